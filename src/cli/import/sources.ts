import { shownAddress } from "../../core/shown-address.ts";
import { CliError, codeOf, EXIT, messageOf } from "../failure.ts";

/** A queue with more than this is one to drain first. */
export const JOBS_MAX = 100_000;
/** As of a file. */
const TEXT_LENGTH_MAX = 64_000_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** An address, and a setting that stands behind it as `?schema=jobs`, which is none of the server's. */
export function addressOf(
  text: string,
  setting: string,
  fallback: string,
): { readonly address: string; readonly value: string } {
  if (!URL.canParse(text)) throw new CliError(`the address ${shownAddress(text)} cannot be read`);
  const url = new URL(text);
  const value = url.searchParams.get(setting) ?? fallback;
  url.searchParams.delete(setting);
  return { address: url.href, value };
}

/** Adds up what is read, so that a queue does not fill the memory. */
export class Bounds {
  #length = 0;
  #jobs = 0;

  add(text: string | null, jobs = 1): void {
    this.#length += text?.length ?? 0;
    this.#jobs += jobs;
    if (this.#jobs > JOBS_MAX) throw tooMuch(`more than ${JOBS_MAX} jobs wait`);
    if (this.#length > TEXT_LENGTH_MAX) throw tooMuch(`what waits has more than ${TEXT_LENGTH_MAX / 1_000_000} MB`);
  }
}

function tooMuch(message: string): CliError {
  return new CliError(message, { lines: ["  let the workers end most of it, then import the rest"] });
}

/** The error of a server that does not answer, or refuses. The address is shown without its password. */
export function unreachable(text: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const facts = { exitCode: EXIT.unreachable, code: "sourceUnavailable" };
  return new CliError(`${shownAddress(text)} cannot be read: ${messageOf(error) || "it does not answer"}`, facts);
}

/** Opens a connection by the first package that is installed. @throws {CliError} when none is */
export async function openByFirst<T>(
  server: string,
  packages: Readonly<Record<string, (address: string) => Promise<T>>>,
  address: string,
): Promise<T> {
  const names = Object.keys(packages);
  for (const open of Object.values(packages)) {
    try {
      return await open(address);
    } catch (error) {
      if (!/MODULE_NOT_FOUND|Cannot find (package|module)/.test(`${codeOf(error)} ${messageOf(error)}`)) throw error;
    }
  }
  const lines = [`  npm install ${names[0]}`];
  throw new CliError(`reading ${server} needs the package ${names.join(" or ")}`, { lines });
}

/** A connection to PostgreSQL. */
export interface SqlConnection {
  /** The rows of a statement whose only column is text. */
  texts(statement: string): Promise<string[]>;
  close(): Promise<void>;
}

/** How PostgreSQL is reached, by the names of packages. */
export const SQL_CLIENTS: Readonly<Record<"postgres" | "pg", (address: string) => Promise<SqlConnection>>> = {
  postgres: async (address) => {
    const { default: postgres } = await import("postgres");
    const sql = postgres(address, {
      ...{ max: 1, fetch_types: false, connect_timeout: CONNECT_TIMEOUT_MS / 1000, onnotice: () => {} },
      // No other parameters: a pooler would refuse them.
      connection: { application_name: "escapement import" },
    });
    return {
      texts: async (statement) => (await sql.unsafe(statement).values()).map(([text]) => String(text)),
      close: () => sql.end({ timeout: 0 }),
    };
  },
  pg: async (address) => {
    const { default: pg } = await import("pg");
    const client = new pg.Client({
      ...{ connectionString: address, connectionTimeoutMillis: CONNECT_TIMEOUT_MS },
      application_name: "escapement import",
    });
    client.on("error", () => {});
    await client.connect();
    return {
      texts: async (text) => {
        const { rows } = await client.query<unknown[]>({ text, rowMode: "array" });
        return rows.map(([column]) => String(column));
      },
      close: () => client.end(),
    };
  },
};

/** A connection to Redis. */
export interface RedisConnection {
  command(...words: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}

/** How Redis is reached, by the names of packages. */
export const REDIS_CLIENTS: Readonly<
  Record<"ioredis" | "@redis/client", (address: string) => Promise<RedisConnection>>
> = {
  ioredis: async (address) => {
    const { Redis } = await import("ioredis");
    const client = new Redis(address, {
      ...{ lazyConnect: true, connectTimeout: CONNECT_TIMEOUT_MS, retryStrategy: () => null },
      ...{ maxRetriesPerRequest: 0, connectionName: "escapement" },
    });
    // Whoever waits for the connection hears of it.
    let failure: Error | null = null;
    client.on("error", (error: Error) => {
      failure ??= error;
    });
    await client.connect().catch((error: unknown) => {
      throw failure ?? error;
    });
    return {
      command: (name = "", ...words) => client.call(name, ...words),
      close: async () => client.disconnect(),
    };
  },
  "@redis/client": async (address) => {
    const { createClient } = await import("@redis/client");
    const socket = { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false } as const;
    const client = createClient({ url: address, name: "escapement", socket });
    client.on("error", () => {});
    await client.connect();
    return { command: (...words) => client.sendCommand([...words]), close: async () => client.destroy() };
  },
};
