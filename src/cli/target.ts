import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { nearest } from "../core/suggest.ts";
import type { Scheduler, SchedulerClient } from "../mod.ts";
import type { CommandCall, CommandTarget, TargetOptions } from "./command.ts";
import { refuseOptions, textOption } from "./command.ts";
import { CliError, codeOf, EXIT, messageOf } from "./failure.ts";
import { loadModule } from "./load-module.ts";

/** The kinds of stores that are opened by a URL. */
const SCHEMES = ["file:", "http:", "https:", "libsql:", "postgres:", "postgresql:"] as const;
const CONFIGS = ["escapement.config.ts", "escapement.config.mts", "escapement.config.js", "escapement.config.mjs"];
/** A person waits: an outage is told after two more tries. */
const ATTEMPTS_MAX = 3;

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Opens the scheduler that the options name: over a store, behind a router, or of a module. */
export async function openTarget(
  call: CommandCall,
  { creates = false, hasToken = false }: TargetOptions = {},
): Promise<CommandTarget> {
  const { io } = call;
  const store = textOption(call, "store");
  const url = textOption(call, "url");
  const config = textOption(call, "config");
  if ([store, url, config].filter((given) => given !== undefined).length > 1) {
    throw new CliError("--store, --url and --config name one scheduler each; give one of them");
  }
  if (url === undefined && !hasToken) {
    refuseOptions(call, ["token"], store === undefined ? "a module" : "--store", "the router of --url takes it");
  }
  if (store !== undefined) return overStore(await openStore(store, call, creates));
  if (url !== undefined) return behindRouter(url, textOption(call, "token") ?? io.env.ESCAPEMENT_TOKEN);
  const path = config ?? CONFIGS.find((name) => existsSync(resolve(io.cwd, name)));
  if (path === undefined) {
    const lines = ["  --store file:jobs.db, --url https://example.org/scheduler, or a file escapement.config.ts here"];
    throw new CliError("no scheduler is named", { lines });
  }
  return ofConfig(await loadModule(resolve(io.cwd, path)), path, call, creates);
}

/** What a configuration may export. */
interface Config {
  readonly store?: unknown;
  readonly url?: unknown;
  readonly token?: unknown;
}

async function ofConfig(loaded: unknown, path: string, call: CommandCall, creates: boolean): Promise<CommandTarget> {
  const exported = await (loaded as { readonly default?: unknown } | null)?.default;
  const given: unknown = typeof exported === "function" ? await exported() : exported;
  if (isClient(given)) return { client: given, dataStore: null, by: byOf(call), close: () => closeClient(given) };
  const { store, url, token } = Object(given) as Config;
  if (typeof store === "string") return overStore(await openStore(store, call, creates));
  if (isDataStore(store)) return overStore({ dataStore: store, call });
  if (typeof url === "string") return behindRouter(url, typeof token === "string" ? token : undefined);
  throw new CliError(`${path} must have a scheduler, { store } or { url, token } as its default export`);
}

/** Whether a module gave a store itself, in place of its URL. */
function isDataStore(value: unknown): value is OpenedStore["dataStore"] {
  return typeof (Object(value) as { putTasks?: unknown }).putTasks === "function";
}

/** Whether a module gave what has the methods of a scheduler: its class may be that of another copy of the package. */
export function isClient(value: unknown): value is SchedulerClient {
  return typeof (Object(value) as { getSchedules?: unknown }).getSchedules === "function";
}

async function closeClient(client: SchedulerClient): Promise<void> {
  const { stop, close } = client as { stop?(): Promise<void>; close?(): Promise<void> };
  await (stop ?? close)?.call(client);
}

async function overStore({ dataStore, call }: OpenedStore): Promise<CommandTarget> {
  const { Scheduler } = await import("../mod.ts");
  // Rules of calendars may be in the store.
  (await import("../rrule/mod.ts")).registerRRule();
  const by = byOf(call);
  // It never starts: until then, a scheduler is a client of its store.
  const client: Scheduler = new Scheduler({ dataStore, logger: SILENT, cleanupInterval: null, clock: call.io.clock });
  return { client, dataStore, by, close: () => client.stop() };
}

async function behindRouter(url: string, token: string | undefined): Promise<CommandTarget> {
  const { connect } = await import("../client/mod.ts");
  const retry = { maxAttempts: ATTEMPTS_MAX };
  const client = connect({ url, retry, logger: SILENT, ...(token === undefined ? {} : { token }) });
  // The router knows by its token who asks.
  return { client, dataStore: null, by: {}, close: () => client.close() };
}

/** Whom the history names for a change. */
function byOf({ io }: CommandCall): { readonly by?: string } {
  const user = io.env.USER || io.env.LOGNAME || io.env.USERNAME || systemUser();
  return user === null ? {} : { by: `${user} (command line)`.slice(0, 200) };
}

/** The user of the operating system; null for one without a name, as containers have. */
function systemUser(): string | null {
  try {
    return userInfo().username || null;
  } catch {
    return null;
  }
}

interface OpenedStore {
  readonly dataStore: NonNullable<CommandTarget["dataStore"]>;
  readonly call: CommandCall;
}

/** The store of a URL. @throws {CliError} for a scheme that names none, and for a file that is not there */
export async function openStore(url: string, call: CommandCall, creates: boolean): Promise<OpenedStore> {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase();
  if (scheme === undefined) throw new CliError(`--store must be a URL; write file:${url} for a file`);
  if (scheme === "file:") return { dataStore: await openFile(url, call, creates), call };
  if (!SCHEMES.some((known) => known === scheme)) {
    const name = nearest(scheme, SCHEMES);
    const question = name === null ? "" : `; did you mean ${name}?`;
    throw new CliError(`--store has ${scheme}, which is no kind of store; known are ${SCHEMES.join(", ")}${question}`);
  }
  if (scheme.startsWith("postgres")) {
    const { PostgresDataStore } = await import("../postgres.ts");
    return { dataStore: new PostgresDataStore({ url }, { retry: { maxAttempts: ATTEMPTS_MAX } }), call };
  }
  const { LibsqlDataStore } = await import("../stores/libsql-http/mod.ts");
  const { env } = call.io;
  const authToken = env.LIBSQL_AUTH_TOKEN ?? env.TURSO_AUTH_TOKEN;
  return { dataStore: new LibsqlDataStore({ url, ...(authToken === undefined ? {} : { authToken }) }), call };
}

async function openFile(url: string, { io }: CommandCall, creates: boolean): Promise<OpenedStore["dataStore"]> {
  const path = resolve(
    io.cwd,
    url.startsWith("file://") ? fileURLToPath(url) : (url.slice("file:".length).split("?")[0] ?? ""),
  );
  if (!creates && !existsSync(path)) {
    throw new CliError(`there is no file ${path}`, { exitCode: EXIT.unreachable, code: "storeUnavailable" });
  }
  if ("Bun" in globalThis) {
    const { SqliteDataStore } = await import("../stores/bun-sqlite/mod.ts");
    return new SqliteDataStore({ path });
  }
  if (process.getBuiltinModule?.("node:sqlite") !== undefined) {
    const { SqliteDataStore } = await import("../stores/node-sqlite/mod.ts");
    return new SqliteDataStore({ path });
  }
  try {
    const { LibsqlDataStore } = await import("../stores/libsql/mod.ts");
    return new LibsqlDataStore({ url: `file:${path}` });
  } catch (error) {
    if (!/MODULE_NOT_FOUND/.test(codeOf(error) ?? "")) throw error;
    const lines = ["  npm install @libsql/client, or use Node 22.13 or later"];
    throw new CliError(`this Node has no SQLite of its own, and @libsql/client is not installed: ${messageOf(error)}`, {
      lines,
    });
  }
}
