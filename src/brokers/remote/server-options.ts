import type * as v from "valibot";
import { type Checker, checker, type Hints, namesOf } from "../../core/check.ts";
import { mustBe, shown } from "../../core/option-errors.ts";

/** How the options of a broker are checked whose server is given by a url or by a client. */
export interface ServerOptions {
  /** The constructor, for messages. */
  readonly where: string;
  readonly byUrl: v.GenericSchema & { readonly entries: object };
  readonly byClient: v.GenericSchema;
  /** Whether a value that stands in the place of the options is a client. */
  readonly isClient: (value: unknown) => boolean;
  /** Other words for options, beside those that all brokers have. */
  readonly synonyms: Readonly<Record<string, string>>;
  /** What to do about names that are no options; null where that is unknown. */
  readonly elsewhere?: (name: string) => string | null;
}

/** Other words for the options that all brokers have. */
const SYNONYMS = { prefix: "namespace", uri: "url", address: "url", user: "username" };

/** A function that checks the options of a broker, and adds the defaults. It throws an `OptionsError` with one issue
 *  for each problem. */
export function serverOptionsChecker<T>(options: ServerOptions): (given: unknown) => T {
  const { where, byUrl, byClient, isClient, synonyms, elsewhere = () => null } = options;
  const hints: Hints = {
    takes: "{ url } or { client }",
    instead: (value) => adviceOn(value, isClient),
    synonyms: { ...SYNONYMS, ...synonyms },
    elsewhere,
  };
  const checkByUrl: Checker<unknown> = checker(byUrl, hints);
  const checkByClient: Checker<unknown> = checker(byClient, {
    ...hints,
    elsewhere: (name) =>
      namesOf(byUrl).includes(name) ? "a server is given by url or by client, not by both" : elsewhere(name),
  });
  return (given) => {
    const hasClient = typeof given === "object" && given !== null && "client" in given;
    return (hasClient ? checkByClient : checkByUrl)(given, where) as T;
  };
}

function adviceOn(value: unknown, isClient: (value: unknown) => boolean): string | null {
  if (typeof value === "string") return `write { url: ${shown(value)} }`;
  if (value instanceof URL) return "write { url: url.href }";
  return isClient(value) ? "pass it as { client }" : null;
}

/** The message about a url of another kind, for servers that also listen on unix sockets.
 *  @param what what the url must be
 *  @param scheme the one that a host without a scheme likely lacks */
export function saysUrl(what: string, scheme: string): (issue: { readonly input: unknown }) => string {
  return ({ input }) => {
    const isHost = typeof input === "string" && /^[\w.-]+(:\d+)?$/.test(input);
    const isPath = typeof input === "string" && input.startsWith("/");
    const advice = isHost ? `${scheme}://${input}` : isPath ? `unix://${input}` : null;
    return mustBe(what, input, "", advice === null ? null : `write ${shown(advice)}`);
  };
}
