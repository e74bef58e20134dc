import { builtinModule } from "../../core/host.ts";
import type { ParsedPostgresOptions, PostgresJs } from "../../core/postgres-address.ts";
import { timerHost } from "../../core/timer-host.ts";
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS } from "../remote/limits.ts";
import { loadPackage } from "../remote/load-package.ts";
import type { PostgresClient } from "./client.ts";
import type { Target } from "./target.ts";

/** What the broker needs of postgres.js. */
export type Postgres = PostgresJs<BrokerClient>;

/** A client of postgres.js that the broker has made. */
interface BrokerClient extends PostgresClient {
  end(options: { timeout: number }): Promise<void>;
}

/** The part of Node's `net` that the broker uses. */
interface Net {
  connect(address: object): Socket;
}

interface Socket {
  /** By this name postgres.js checks the server's certificate. */
  host?: string;
  once(event: string, listener: (error?: unknown) => void): unknown;
  off(event: string, listener: (error?: unknown) => void): unknown;
  destroy(): unknown;
}

/** What a connection tells. */
interface ConnectionListener {
  received(text: string, channel: string): void;
  /** The connection was there, and has ended. */
  ended(): void;
}

/**
 * One connection to a server, which listens and sends. It never connects again: by itself, postgres.js would try
 * without a pause where connections are taken and closed at once, and would hide the loss of a connection.
 */
export class BrokerConnection {
  readonly #client: BrokerClient;
  readonly #listener: ConnectionListener;
  #socket: Socket | null = null;
  #hasSocket = false;
  #isListening = false;
  #isPooled = false;
  #isEnded = false;

  constructor(postgres: Postgres, target: Target, listener: ConnectionListener) {
    this.#listener = listener;
    this.#client = postgres(
      ...target.optionsWith({
        max: 1,
        fetch_types: false,
        idle_timeout: null,
        max_lifetime: null,
        connect_timeout: CONNECT_TIMEOUT_MS / 1000,
        onnotice: () => {},
        onnotify: (channel: string, text: string) => this.#received(text, channel),
        onclose: () => this.#closed(),
        socket: (parsed: ParsedPostgresOptions) => this.#connect(target, parsed),
      }),
    );
  }

  /** Whether the connection leads to a pool, and not to the server itself. Known when `listen` has resolved. */
  get isPooled(): boolean {
    return this.#isPooled;
  }

  /** Connects, and listens on a channel. */
  async listen(channel: string): Promise<void> {
    let stopTimer = (): void => {};
    const late = new Promise<never>((_, reject) => {
      const fail = (): void => reject(new Error(`the server did not answer within ${CONNECT_TIMEOUT_MS} ms`));
      stopTimer = timerHost.startTimer(fail, CONNECT_TIMEOUT_MS);
    });
    try {
      this.#isPooled = isOfPool(await Promise.race([this.#client.unsafe(listenOn(channel)), late]));
      this.#isListening = !this.#isEnded;
    } finally {
      stopTimer();
    }
    if (this.#isEnded) throw new Error("the connection was closed");
  }

  query(text: string, parameters: string[]): PromiseLike<unknown> {
    return this.#client.unsafe(text, parameters, { prepare: true });
  }

  /** Runs a statement without parameters. */
  run(text: string): PromiseLike<unknown> {
    return this.#client.unsafe(text);
  }

  /** Ends the connection, of which nothing is told any more. */
  async close(): Promise<void> {
    this.#isEnded = true;
    await this.#client.end({ timeout: 0 });
    // A server that hangs would keep the socket, and the process with it.
    this.#socket?.destroy();
  }

  #received(text: string, channel: string): void {
    if (!this.#isEnded) this.#listener.received(text, channel);
  }

  #closed(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#isListening) this.#listener.ended();
  }

  /** Called by postgres.js when it needs a socket. */
  async #connect(target: Target, parsed: ParsedPostgresOptions): Promise<Socket> {
    if (this.#hasSocket || this.#isEnded) throw new Error("the connection was closed before it was ready");
    this.#hasSocket = true;
    if (target.socket !== undefined) {
      this.#socket = (await target.socket(parsed)) as Socket;
      return this.#socket;
    }
    return new Promise((resolve, reject) => {
      const { host, port, path } = parsed;
      const net = builtinModule("node:net") as Net | undefined;
      if (net === undefined) throw new Error("this runtime has no sockets of Node");
      const name = target.host ?? host[0] ?? "localhost";
      const address = typeof path === "string" ? { path } : { host: name, port: target.port ?? port[0] };
      const socket = net.connect({
        ...address,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
      });
      this.#socket = socket;
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("the connection was closed")));
      socket.once("connect", () => {
        socket.off("error", reject);
        if (typeof path !== "string") socket.host = name;
        resolve(socket);
      });
    });
  }
}

/** A pool tells its clients process ids that it made up. */
function isOfPool(results: unknown): boolean {
  const result: unknown = Array.isArray(results) ? results.at(-1) : undefined;
  const { 0: row, state } = Object(result) as { readonly 0?: object; readonly state?: { readonly pid?: number } };
  return row !== undefined && Object.values(row)[0] !== state?.pid;
}

/** The server would end a connection that is idle: most of the time, this one is. Old servers lack the setting. */
function listenOn(channel: string): string {
  return (
    "select pg_catalog.set_config(name, '0', false) from pg_catalog.pg_settings where name = 'idle_session_timeout'; " +
    `listen "${channel.replaceAll('"', '""')}"; select pg_catalog.pg_backend_pid()`
  );
}

/** @throws {BrokerUnavailableError} when the package is missing */
export function loadPostgres(): Promise<Postgres> {
  return loadPackage("postgres", "PostgreSQL", async () => (await import("postgres")).default as unknown as Postgres);
}
