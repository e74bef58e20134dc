import * as v from "valibot";
import { checker, objectOf, says } from "../core/check.ts";
import { systemClock } from "../core/clock.ts";
import { optionError } from "../core/option-errors.ts";
import type { NoticeType } from "../records/notice.ts";
import type { NoticeChannel } from "../scheduler/options/notice-channel.ts";
import type { ChannelOptions, UrlOrText } from "./channel-options.ts";
import { type Notice, noticeOf } from "./notice.ts";
import { type CheckedChannel, channelEntries, channelTypes, checkHeaders, checkSecrets, checkUrl } from "./options.ts";
import { send } from "./send.ts";
import { signedHeaders } from "./standard-webhooks.ts";

/** What a request carries: text as it is (`text/plain`), or a value that becomes JSON. */
export type WebhookBody = string | object;

/** Options of `webhook`. */
export interface WebhookOptions extends ChannelOptions {
  /** Where notices go, by POST: an `http:` or `https:` URL. A function is asked at each request, for what is known only
   *  then. It never enters the store, the log or an error. */
  readonly url: UrlOrText | undefined | (() => UrlOrText | undefined);
  /** Which changes of state: `failed`, `recovered`, `succeeded`, `overdue`, `paused`. */
  readonly on: readonly NoticeType[];
  /** Whether a notice is sent. Default: all are. */
  readonly filter?: ((notice: Notice) => boolean | Promise<boolean>) | undefined;
  /** Makes the body of a notice: `slack`, `discord`, `ntfy(topic)`, or a function of yours. Default: the notice as
   *  JSON, which is a payload of Standard Webhooks. */
  readonly body?: ((notice: Notice) => WebhookBody | Promise<WebhookBody>) | undefined;
  /** Signs each request as Standard Webhooks say: `whsec_` and the Base64 of 24 to 64 bytes. With several, each signs,
   *  so that a secret can be replaced without a pause. A function is asked at each request. Default: none. */
  readonly secret?: string | readonly string[] | (() => string | readonly string[]) | undefined;
}

interface CheckedWebhook extends CheckedChannel {
  readonly on: readonly NoticeType[];
  readonly filter?: WebhookOptions["filter"];
  readonly body?: WebhookOptions["body"];
  readonly secret?: unknown;
}

const check = checker<CheckedWebhook>(
  () =>
    objectOf({
      ...channelEntries(),
      on: channelTypes(),
      filter: v.optional(v.function(says("a function of a notice"))),
      body: v.optional(v.function(says("a function of a notice"))),
      secret: v.optional(v.unknown()),
    }) as unknown as v.GenericSchema<unknown, CheckedWebhook>,
);

/**
 * Sends notices to a URL. Each notice is a job of the task `escapement.notices.webhook`: it survives restarts, is tried
 * 8 times within an hour and a half, and counts as sent when the receiver answers with a status of 200 to 299. Other
 * answers below 500 end it at once, except 408, 409, 425 and 429. Redirects are not followed, and the answer's text is
 * not read. A receiver may get a notice twice, as with every webhook: `webhook-id` is the same then.
 * @throws {OptionsError} for unknown or invalid options; its message shows neither the URL nor a secret
 * @example
 * const alerts = webhook({ url: "https://example.org/hook", on: ["failed", "recovered"], secret: process.env.SECRET });
 * const scheduler = new Scheduler({ dataStore, notices: [alerts] });
 */
export function webhook(options: WebhookOptions): NoticeChannel {
  const where = "webhook()";
  const {
    name = "webhook",
    on,
    schedules,
    timeoutMs,
    filter,
    body,
    url,
    headers = {},
    secret = [],
  } = check(options, where);
  if (typeof url !== "function") checkUrl(url, where);
  if (typeof headers !== "function") checkHeaders(headers, where);
  if (typeof secret !== "function") checkSecrets(secret, where);
  return {
    name,
    on,
    ...(schedules === undefined ? {} : { schedules }),
    settings: {
      maxRunningJobs: 4,
      timeout: { milliseconds: timeoutMs },
      retry: { maxAttempts: 8, backoff: { initial: "5s", factor: 3, max: "1h" } },
    },
    async send(context) {
      const notice = await noticeOf(context);
      if (filter !== undefined && !(await filter(notice))) return;
      const made = body === undefined ? notice : await body(notice);
      const isText = typeof made === "string";
      const text = isText ? made : jsonOf(made, where);
      const keys = checkSecrets(asked(secret), where);
      await send({
        channel: name,
        url: checkUrl(asked(url), where),
        method: "POST",
        headers: {
          "content-type": isText ? "text/plain; charset=utf-8" : "application/json",
          ...(await signedHeaders(keys, context.job.id, Math.floor(systemClock.now() / 1000), text)),
          ...checkHeaders(asked(headers), where),
        },
        body: text,
        signal: context.signal,
      });
    },
  };
}

/** What a function gives that is asked at each request, or the value itself. */
export function asked(value: unknown): unknown {
  return typeof value === "function" ? (value as () => unknown)() : value;
}

function jsonOf(value: unknown, where: string): string {
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : undefined;
  if (text === undefined) throw optionError(where, "body", "must return text, or an object that becomes JSON");
  return text;
}
