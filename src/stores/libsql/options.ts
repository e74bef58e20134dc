import * as v from "valibot";
import { type Duration, toDurationMs } from "../../core/duration.ts";
import { OptionsError } from "../../core/errors.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { LibsqlClient } from "./client.ts";
import { REMOTE_TIMEOUT_MS_DEFAULT, TABLE_PREFIX_LENGTH_MAX } from "./limits.ts";

/** A database by its address. */
export interface LibsqlUrlConnection {
  /** `file:name.db`, `:memory:`, `http(s)://`, `ws(s)://` or `libsql://`. */
  readonly url: string;
  /** Token for a remote database. */
  readonly authToken?: string;
  /** Address of the primary of which the file at `url` becomes an embedded replica: reads are local, writes go there. */
  readonly syncUrl?: string;
  /** How often a replica fetches changes by itself. Default: never; its own writes it sees at once. */
  readonly syncInterval?: Duration;
  /** Key of an encrypted local database. */
  readonly encryptionKey?: string;
}

/** A database by a client that the caller made, and closes. */
export interface LibsqlClientConnection {
  readonly client: LibsqlClient;
}

export type LibsqlConnection = LibsqlUrlConnection | LibsqlClientConnection;

export interface LibsqlStoreOptions {
  /** Begins the names of all tables. Letters, digits and `_`, at most 64. Default: `"escapement_"`. */
  readonly tablePrefix?: string;
  /** Turns payloads and return values into text. Default: a `JSONSerializer`. */
  readonly serializer?: Serializer;
  /** For a file opened by its `url`. `"full"` (default): what was acknowledged survives a power failure, at the cost of
   *  an fsync a commit. `"normal"`: it survives a crash of the process, but a power failure can take the last moments.
   *  Measured, it processes 1.2 times and adds 1.1 (in bulk) to 2.7 times (one by one) as fast (bench/README.md). */
  readonly durability?: "full" | "normal";
  /** Longest wait for one answer of a remote database. Default: 10 seconds. */
  readonly timeout?: Duration;
}

export interface CheckedOptions {
  readonly tablePrefix: string;
  readonly serializer: Serializer | undefined;
  readonly durability: "full" | "normal";
  readonly timeoutMs: number;
}

const nonEmpty = v.pipe(v.string(), v.nonEmpty());

const connectionSchema = v.union([
  v.strictObject({
    client: v.custom<LibsqlClient>(isClient, "a libSQL client, with the methods execute, batch and close"),
  }),
  v.strictObject({
    url: nonEmpty,
    authToken: v.optional(nonEmpty),
    syncUrl: v.optional(nonEmpty),
    syncInterval: v.optional(v.unknown()),
    encryptionKey: v.optional(nonEmpty),
  }),
]);

const optionsSchema = v.strictObject({
  tablePrefix: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(TABLE_PREFIX_LENGTH_MAX),
      v.regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, "letters, digits and _, not beginning with a digit"),
      v.check((prefix) => !/^sqlite_/i.test(prefix), "names that begin with sqlite_ are SQLite's own"),
    ),
    "escapement_",
  ),
  serializer: v.optional(
    v.custom<Serializer>(
      (value) => hasMethods(value, ["serialize", "deserialize"]),
      "an object with the methods serialize and deserialize",
    ),
  ),
  durability: v.optional(v.picklist(["full", "normal"]), "full"),
  timeout: v.optional(v.unknown()),
});

/** @throws {OptionsError} with one issue per problem */
export function checkConnection(connection: LibsqlConnection): void {
  // Which of the two is meant decides whose problems are told.
  const [byClient, byUrl] = connectionSchema.options;
  const isByClient = typeof connection === "object" && connection !== null && "client" in connection;
  check(isByClient ? byClient : byUrl, connection, "connection");
  if ("syncInterval" in connection && connection.syncInterval !== undefined) {
    toDurationMs(connection.syncInterval, "connection.syncInterval");
  }
}

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: LibsqlStoreOptions): CheckedOptions {
  const { tablePrefix, serializer, durability } = check(optionsSchema, options, "options");
  const timeoutMs =
    options.timeout === undefined ? REMOTE_TIMEOUT_MS_DEFAULT : toDurationMs(options.timeout, "timeout");
  if (timeoutMs === 0) {
    throw new OptionsError("timeout must be longer than nothing", [{ path: "timeout", message: "must not be 0" }]);
  }
  return { tablePrefix, serializer, durability, timeoutMs };
}

function check<S extends v.GenericSchema>(schema: S, value: unknown, name: string): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const issues = result.issues.map((issue) => ({ path: v.getDotPath(issue) ?? "", message: issue.message }));
  const list = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw new OptionsError(`the ${name} of LibsqlDataStore cannot be used: ${list}`, issues);
}

function isClient(value: unknown): boolean {
  return hasMethods(value, ["execute", "batch", "close"]);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function")
  );
}
