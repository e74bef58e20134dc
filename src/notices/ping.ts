import type * as v from "valibot";
import { checker, objectOf } from "../core/check.ts";
import type { NoticeChannel } from "../scheduler/options/notice-channel.ts";
import type { ChannelOptions, UrlOrText } from "./channel-options.ts";
import { noticeOf } from "./notice.ts";
import { type CheckedChannel, channelEntries, checkHeaders, checkUrl } from "./options.ts";
import { send } from "./send.ts";
import { asked } from "./webhook.ts";

/** Options of `ping`. */
export interface PingOptions extends ChannelOptions {
  /** What is asked for, by GET: an `http:` or `https:` URL. A function is asked at each request. It never enters the
   *  store, the log or an error. */
  readonly url: UrlOrText | undefined | (() => UrlOrText | undefined);
}

const check = checker<CheckedChannel>(
  () => objectOf(channelEntries()) as unknown as v.GenericSchema<unknown, CheckedChannel>,
);

/**
 * Asks for a URL on each success of a run, for dead-man services such as Healthchecks.io, Cronitor and Uptime Kuma:
 * they tell when it no longer comes, whatever the reason. Name the `schedules` that it is about; each success of any
 * other would count, too. A ping is a job of the task `escapement.notices.ping`, and is tried 4 times within some
 * minutes.
 * @throws {OptionsError} for unknown or invalid options; its message does not show the URL
 * @example
 * const alive = ping({ url: "https://hc-ping.com/your-uuid", schedules: ["backup"] });
 * const scheduler = new Scheduler({ dataStore, notices: [alive] });
 */
export function ping(options: PingOptions): NoticeChannel {
  const where = "ping()";
  const { name = "ping", schedules, timeoutMs, url, headers = {} } = check(options, where);
  if (typeof url !== "function") checkUrl(url, where);
  if (typeof headers !== "function") checkHeaders(headers, where);
  return {
    name,
    on: ["succeeded"],
    ...(schedules === undefined ? {} : { schedules }),
    settings: {
      maxRunningJobs: 4,
      timeout: { milliseconds: timeoutMs },
      retry: { maxAttempts: 4, backoff: { initial: "5s", factor: 4, max: "5m" } },
    },
    async send(context) {
      await noticeOf(context);
      await send({
        channel: name,
        url: checkUrl(asked(url), where),
        method: "GET",
        headers: checkHeaders(asked(headers), where),
        body: null,
        signal: context.signal,
      });
    },
  };
}
