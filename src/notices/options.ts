import * as v from "valibot";
import { canParseUrl } from "../core/can-parse-url.ts";
import { durationMs, oneOf, says, textUpTo } from "../core/check.ts";
import { optionError } from "../core/option-errors.ts";
import { ID_LENGTH_MAX } from "../records/limits.ts";
import { NOTICE_TYPES, type NoticeType } from "../records/notice.ts";
import type { Headers } from "./channel-options.ts";
import { NOTICE_NAME_LENGTH_MAX } from "./limits.ts";
import { keyOf } from "./standard-webhooks.ts";

const URL_RULE = "must be the text of an http: or https: URL without a user and a password; its value is not shown";
const SECRET_RULE = "must be whsec_ and the Base64 of 24 to 64 bytes; its value is not shown";

const name = (): v.GenericSchema<string> =>
  v.pipe(
    v.string(says("text")),
    v.regex(/^[\w-]+$/, says("letters, digits, - and _")),
    v.maxLength(NOTICE_NAME_LENGTH_MAX, says(`text of at most ${NOTICE_NAME_LENGTH_MAX} characters`)),
  );

/** What a check makes of `ChannelOptions`. */
export interface CheckedChannel {
  readonly name?: string;
  readonly schedules?: readonly string[];
  readonly timeoutMs: number;
  readonly url?: unknown;
  readonly headers?: unknown;
}

/** The options of a channel. What may be secret is checked apart, because messages of schemas show values. */
export function channelEntries(): v.ObjectEntries {
  const saysIds = says("a list of at least one id");
  return {
    name: v.optional(name()),
    schedules: v.optional(v.pipe(v.array(textUpTo(ID_LENGTH_MAX), saysIds), v.minLength(1, saysIds))),
    timeout: v.optional(durationMs(1), { seconds: 10 }),
    url: v.optional(v.unknown()),
    headers: v.optional(v.unknown()),
  };
}

export function channelTypes(): v.GenericSchema<readonly NoticeType[]> {
  const saysTypes = says(`a list of at least one of ${NOTICE_TYPES.map((type) => `"${type}"`).join(", ")}`);
  return v.pipe(v.array(oneOf(NOTICE_TYPES), saysTypes), v.minLength(1, saysTypes));
}

/** @throws {OptionsError} that shows nothing of the URL */
export function checkUrl(url: unknown, where: string): string {
  const text = typeof url === "string" ? url : Object(url).href;
  if (typeof text === "string" && canParseUrl(text)) {
    const { protocol, username, password } = new URL(text);
    const isHttp = protocol === "https:" || protocol === "http:";
    if (isHttp && username === "" && password === "") return text;
  }
  throw optionError(where, "url", URL_RULE);
}

/** @throws {OptionsError} that shows nothing of the headers' values */
export function checkHeaders(headers: unknown, where: string): Headers {
  const entries = typeof headers === "object" && headers !== null ? Object.entries(headers) : null;
  const isFine = entries?.every(([key, value]) => isHeader(key, value)) === true;
  if (entries === null || !isFine) throw optionError(where, "headers", "must be an object of header texts");
  return Object.fromEntries(entries as [string, string][]);
}

function isHeader(key: string, value: unknown): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(key) && typeof value === "string" && /^[\t\x20-\x7e]*$/.test(value);
}

/** @throws {OptionsError} that shows nothing of the secret */
export function checkSecrets(secret: unknown, where: string): Uint8Array<ArrayBuffer>[] {
  const list: unknown[] = Array.isArray(secret) ? secret : [secret];
  return list.map((one) => {
    const key = typeof one === "string" ? keyOf(one) : null;
    if (key === null) throw optionError(where, "secret", SECRET_RULE);
    return key;
  });
}
