import type { Duration } from "../core/duration.ts";

/** What both kinds of channels have. */
export interface ChannelOptions {
  /** Name of the channel, unique in a scheduler: 1 to 64 letters, digits, `-` and `_`. Its jobs are those of the task
   *  `escapement.notices.NAME`. */
  readonly name?: string | undefined;
  /** Only notices about these schedules, by their ids. Default: about all. */
  readonly schedules?: readonly string[] | undefined;
  /** Longest time of one try, the answer included. Default: 10 s. */
  readonly timeout?: Duration | undefined;
  /** Headers of each request, such as `Authorization`; a function is asked at each request. Default: none. */
  readonly headers?: Headers | (() => Headers) | undefined;
}

/** Headers of a request, by their names. */
export type Headers = Readonly<Record<string, string>>;

/** A URL, or its text. The type of the web platform's `URL` fits. */
export type UrlOrText = string | { readonly href: string };
