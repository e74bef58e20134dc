import { kill } from "node:process";
import postgres from "postgres";
import { PostgresServer } from "../support/postgres-server.ts";
import type { Sqld } from "../support/sqld.ts";

/** The server that the processes of a chaos run share. */
export interface ChaosServer {
  readonly url: string;
  /** Ends it at once. */
  kill(): Promise<void>;
  resume(): Promise<void>;
  /** Does something worse than usual to it, other than to end it. Returns what. */
  disturb?(random: () => number): Promise<string>;
}

export function sqldOf(server: Sqld): ChaosServer {
  return { url: server.httpUrl, kill: () => server.kill(), resume: () => server.resume() };
}

/** Both lose nothing that was acknowledged when they crash. */
const SAFE = ["synchronous_commit=on", "wal_writer_delay=10ms"];

/** PostgreSQL with a standby that takes over once, and whose connections and processes are killed. */
export class PostgresPair implements ChaosServer {
  readonly url: string;
  readonly #servers: readonly [first: PostgresServer, standby: PostgresServer];
  #primary: PostgresServer;

  private constructor(first: PostgresServer, standby: PostgresServer) {
    this.#servers = [first, standby];
    this.#primary = first;
    const hosts = `127.0.0.1:${first.port},127.0.0.1:${standby.port}`;
    this.url = `${first.url.replace(`127.0.0.1:${first.port}`, hosts)}?target_session_attrs=read-write`;
  }

  static async start(): Promise<PostgresPair> {
    const first = await PostgresServer.start({ settings: [...SAFE, "synchronous_standby_names=*"] });
    return new PostgresPair(first, await first.startStandby(...SAFE));
  }

  /** Whether the standby has taken over. */
  get hasFailedOver(): boolean {
    return this.#primary !== this.#servers[0];
  }

  kill(): Promise<void> {
    return this.#primary.kill();
  }

  /** The first time, the standby takes over. */
  async resume(): Promise<void> {
    if (this.hasFailedOver) return this.#primary.resume();
    [, this.#primary] = this.#servers;
    await this.#ask((sql) => sql`SELECT pg_promote()`);
  }

  async disturb(random: () => number): Promise<string> {
    const others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    const dice = random();
    if (dice < 0.4) {
      await this.#ask((sql) => sql.unsafe(`SELECT pg_terminate_backend(pid) ${others} ORDER BY random() LIMIT 1`));
      return "a connection terminated";
    }
    if (dice < 0.7) {
      await this.#ask((sql) => sql.unsafe(`SELECT pg_terminate_backend(pid) ${others}`));
      return "all connections terminated";
    }
    const [row] = await this.#ask((sql) => sql.unsafe(`SELECT pid ${others} ORDER BY random() LIMIT 1`));
    // The server then ends all of its processes, and recovers as after a crash.
    if (row !== undefined) kill(Number(row.pid), "SIGKILL");
    return "a process of the server killed";
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) await server.stop();
  }

  async #ask(ask: (sql: postgres.Sql) => PromiseLike<readonly postgres.Row[]>): Promise<readonly postgres.Row[]> {
    const sql = postgres(this.#primary.url, { max: 1, onnotice: () => {} });
    try {
      return await ask(sql);
    } catch {
      // It recovers right now.
      return [];
    } finally {
      await sql.end({ timeout: 0 });
    }
  }
}
