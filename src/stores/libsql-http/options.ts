import * as v from "valibot";
import { canParseUrl } from "../../core/can-parse-url.ts";
import { checker, namesOf, says } from "../../core/check.ts";
import { once } from "../../core/once.ts";
import { isPlain, mustBe, shown } from "../../core/option-errors.ts";
import type { CheckedLibsqlOptions, LibsqlStoreOptions } from "../libsql/store-options.ts";
import { optionNames, optionsChecker, secret, text } from "../libsql/store-options.ts";
import type { HttpFetch } from "./driver.ts";

/** A server by its address: sqld or Turso. */
export interface LibsqlHttpConnection {
  /** `https://`, `http://` or `libsql://`, which means `https://`; with `?tls=0` it means `http://`. */
  readonly url: string;
  /** The token of the database. Default: none, or `authToken` in the query of the url. */
  readonly authToken?: string | undefined;
  /** What sends the requests. Default: the global `fetch`. For a service binding:
   *  `(url, request) => env.DATABASE.fetch(url, request)`. */
  readonly fetch?: HttpFetch | undefined;
}

/** Where the pipeline of a server is, and the token for it. */
export interface PipelineEndpoint {
  readonly url: string;
  readonly authToken: string | null;
}

const connectionSchema = once(() =>
  v.strictObject({
    url: v.pipe(
      text(),
      v.check((url) => endpointOf(url) !== null, saysUrl),
    ),
    // The header of a request cannot carry anything else. A line break at the end comes from a file.
    authToken: v.optional(
      v.pipe(
        secret(),
        v.check((token) => isToken(token.trim()), saysToken),
      ),
    ),
    fetch: v.optional(v.custom<HttpFetch>((value) => typeof value === "function", says("a function like fetch"))),
  }),
);

const checkGiven = checker(connectionSchema, {
  takes: "{ url, authToken }",
  instead: connectionAdvice,
  elsewhere: (name) =>
    optionNames().includes(name)
      ? `it comes second: new LibsqlDataStore(connection, { ${name} })`
      : ELSEWHERE.includes(name)
        ? "it needs LibsqlDataStore of escapement/libsql"
        : null,
  synonyms: { uri: "url", address: "url", database: "url", token: "authToken" },
});
const ELSEWHERE = ["client", "syncUrl", "syncInterval", "encryptionKey"];
const checkStoreOptions = optionsChecker(() => namesOf(connectionSchema()));

/** @throws {OptionsError} with one issue per problem */
export function checkConnection(
  connection: LibsqlHttpConnection,
): PipelineEndpoint & { readonly fetch: HttpFetch | null } {
  const { url, authToken, fetch } = checkGiven(connection, "new LibsqlDataStore(connection)");
  const endpoint = endpointOf(url) ?? { url, authToken: null };
  return { url: endpoint.url, authToken: authToken?.trim() ?? endpoint.authToken, fetch: fetch ?? null };
}

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: LibsqlStoreOptions): CheckedLibsqlOptions {
  return checkStoreOptions(options, "new LibsqlDataStore(connection, options)");
}

/** The endpoint of a url; null when no server can be meant by it. */
function endpointOf(text: string): PipelineEndpoint | null {
  const isPlain = /^libsql:.*[?&]tls=0(&|$)/i.test(text);
  const address = text.replace(/^libsql:/i, isPlain ? "http:" : "https:");
  if (!/^https?:\/\//i.test(address) || !canParseUrl(address)) return null;
  const url = new URL(address);
  const authToken = url.searchParams.get("authToken");
  const isForeign = [...url.searchParams.keys()].some((name) => name !== "tls" && name !== "authToken");
  if (url.username !== "" || url.password !== "" || url.hash !== "" || isForeign) return null;
  if (authToken !== null && !isToken(authToken)) return null;
  return { url: `${url.origin}${url.pathname.replace(/\/+$/, "")}/v3/pipeline`, authToken };
}

function isToken(text: string): boolean {
  return /^[!-~]+$/.test(text);
}

function connectionAdvice(value: unknown): string | null {
  // The option of SqliteDataStore.
  if (isPlain(value) && value.url === undefined && typeof value.path === "string") return A_FILE;
  if (typeof value === "string") return isFile(value) ? A_FILE : `write { url: ${shown(value)} }`;
  return value instanceof URL ? "write { url: url.href }" : null;
}

function isFile(url: string): boolean {
  return /^(file|:memory):/i.test(url) || !url.includes(":");
}

const A_FILE = "a file needs escapement/sqlite or escapement/libsql";

function saysUrl({ input }: { readonly input: unknown }): string {
  const url = String(input);
  const advice = /^wss?:/i.test(url)
    ? `write ${shown(url.replace(/^ws/i, "http"))}; WebSockets need escapement/libsql`
    : isFile(url)
      ? A_FILE
      : /\/\/[^/]*@/.test(url)
        ? "pass the token as authToken, in place of a user and a password"
        : null;
  return mustBe(
    "https:, http: or libsql: and an address, with nothing but authToken and tls behind a ?",
    url,
    "",
    advice,
  );
}

function saysToken({ input }: { readonly input: unknown }): string {
  return mustBe("text that a header can carry: ASCII without spaces", input, "secret");
}
