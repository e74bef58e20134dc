import type * as v from "valibot";
import { type Checker, checker, type Hints, namesOf } from "../../core/check.ts";
import { mustBe, shown } from "../../core/option-errors.ts";
import { nameOfWrongUrl, partOfUrl } from "./options.ts";

/** How the options of a broker are checked whose server is given by a url or by a client. */
export interface ServerOptions {
  /** The constructor, for messages. */
  readonly where: string;
  readonly byUrl: () => v.GenericSchema & { readonly entries: object };
  readonly byClient: () => v.GenericSchema;
  /** Whether a value that stands in the place of the options is a client. */
  readonly isClient: (value: unknown) => boolean;
  /** A url with all its parts, for messages. */
  readonly example: string;
  /** The url that a text in the place of the options means; null where that is unknown. */
  readonly addressOf?: (text: string) => string | null;
  /** Other words for options, beside those that all brokers have. */
  readonly synonyms: Readonly<Record<string, string>>;
  /** What to do about names that are no options; null where that is unknown. */
  readonly elsewhere?: (name: string) => string | null;
}

/** Other words for the options that all brokers have. */
const SYNONYMS = { prefix: "namespace", uri: "url", address: "url", user: "username", ssl: "tls" };

/** A function that checks the options of a broker, and adds the defaults. It throws an `OptionsError` with one issue
 *  for each problem. */
export function serverOptionsChecker<T>(options: ServerOptions): (given: unknown) => T {
  const { where, byUrl, byClient, example, synonyms, elsewhere = () => null } = options;
  const hints: Hints = {
    takes: "{ url } or { client }",
    instead: (value) => adviceOn(value, options),
    synonyms: { ...SYNONYMS, ...synonyms },
    elsewhere: (name) => elsewhere(name) ?? partOfUrl(name, example),
  };
  const checkByUrl: Checker<unknown> = checker(byUrl, hints);
  const checkByClient: Checker<unknown> = checker(byClient, {
    ...hints,
    elsewhere: (name) =>
      namesOf(byUrl()).includes(name) ? "a server is given by url or by client, not by both" : elsewhere(name),
  });
  return (given) => {
    const hasClient = typeof given === "object" && given !== null && "client" in given;
    return (hasClient ? checkByClient : checkByUrl)(given, where) as T;
  };
}

function adviceOn(value: unknown, { isClient, addressOf = () => null }: ServerOptions): string | null {
  if (typeof value === "string") return `write { url: ${shown(addressOf(value) ?? value)} }`;
  if (value instanceof URL) return "write { url: url.href }";
  return isClient(value) ? "pass it as { client }" : null;
}

/** The message about a url of another kind.
 *  @param what what the url must be
 *  @param addressOf the url that a text means; null where that is unknown */
export function saysUrl(
  what: string,
  addressOf: (text: string) => string | null,
): (issue: { readonly input: unknown }) => string {
  return ({ input }) => {
    const address = typeof input === "string" ? addressOf(input) : null;
    return mustBe(what, input, nameOfWrongUrl(input), address === null ? null : `write ${shown(address)}`);
  };
}

/** The url of a host or of the path of a unix socket; null for other text. @param scheme of a host */
export function urlOfPlace(text: string, scheme: string): string | null {
  if (/^[\w.-]+(:\d+)?$/.test(text)) return `${scheme}://${text}`;
  return text.startsWith("/") && !text.includes("@") ? `unix://${text}` : null;
}
