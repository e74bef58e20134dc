import { builtinModule } from "../../core/host.ts";
import { timerHost } from "../../core/timer-host.ts";
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS } from "../remote/limits.ts";
import { loadPackage } from "../remote/load-package.ts";
import { urlsOf, withoutSocketFolder } from "./address.ts";
import type { PostgresClient } from "./client.ts";
import type { PostgresUrlBrokerOptions } from "./options.ts";

/** What the broker needs of postgres.js. Its own types would bind the shapes to one version. */
export type Postgres = (url: string, settings: object) => OwnClient;

interface OwnClient extends PostgresClient {
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

/** What postgres.js tells of the options that it was given. */
interface ParsedOptions {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
}

/** What a connection tells. */
interface ConnectionListener {
  received(text: string): void;
  /** The connection was there, and has ended. */
  ended(): void;
}

/**
 * One connection to a server, which listens and sends. It never connects again: by itself, postgres.js would try
 * without a pause where connections are taken and closed at once, and would hide the loss of a connection.
 */
export class Connection {
  readonly #client: OwnClient;
  readonly #listener: ConnectionListener;
  #socket: Socket | null = null;
  #hasSocket = false;
  #isListening = false;
  #isEnded = false;

  /** @param tries which try to connect this is, from 0 on: the hosts of a url take turns */
  constructor(postgres: Postgres, options: PostgresUrlBrokerOptions, tries: number, listener: ConnectionListener) {
    this.#listener = listener;
    const { username, password, tls } = options;
    const urls = urlsOf(options.url);
    const { url, folder } = withoutSocketFolder(urls[tries % urls.length] ?? options.url);
    this.#client = postgres(url, {
      ...(folder === null ? {} : { host: folder }),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      // The name by which the certificate is checked, where the address is none that TLS could send.
      ...(tls === undefined ? {} : { ssl: { host: hostOf(url), ...tls } }),
      max: 1,
      fetch_types: false,
      idle_timeout: null,
      max_lifetime: null,
      connect_timeout: CONNECT_TIMEOUT_MS / 1000,
      connection: { application_name: "escapement" },
      onnotice: () => {},
      onnotify: (_channel: string, text: string) => this.#received(text),
      onclose: () => this.#closed(),
      socket: (parsed: ParsedOptions) => this.#connect(url, parsed),
    });
  }

  /** Connects, and listens on a channel. */
  async listen(channel: string): Promise<void> {
    let stopTimer = (): void => {};
    const late = new Promise<never>((_, reject) => {
      const fail = (): void => reject(new Error(`the server did not answer within ${CONNECT_TIMEOUT_MS} ms`));
      stopTimer = timerHost.startTimer(fail, CONNECT_TIMEOUT_MS);
    });
    try {
      await Promise.race([this.#client.unsafe(listenOn(channel)), late]);
      this.#isListening = !this.#isEnded;
    } finally {
      stopTimer();
    }
    if (this.#isEnded) throw new Error("the connection was closed");
  }

  query(text: string, parameters: string[]): PromiseLike<unknown> {
    return this.#client.unsafe(text, parameters, { prepare: true });
  }

  /** Ends the connection, of which nothing is told any more. */
  async close(): Promise<void> {
    this.#isEnded = true;
    await this.#client.end({ timeout: 0 });
    // A server that hangs would keep the socket, and the process with it.
    this.#socket?.destroy();
  }

  #received(text: string): void {
    if (!this.#isEnded) this.#listener.received(text);
  }

  #closed(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#isListening) this.#listener.ended();
  }

  /** Called by postgres.js when it needs a socket. */
  #connect(url: string, { host, port, path }: ParsedOptions): Promise<Socket> {
    return new Promise((resolve, reject) => {
      if (this.#hasSocket || this.#isEnded) throw new Error("the connection was closed before it was ready");
      this.#hasSocket = true;
      const net = builtinModule("node:net") as Net | undefined;
      if (net === undefined) throw new Error("this runtime has no sockets of Node");
      const name = hostOf(url) ?? host[0] ?? "localhost";
      const address = typeof path === "string" ? { path } : { host: name, port: Number(new URL(url).port) || port[0] };
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

/** Without the brackets of an IPv6 address, which postgres.js does not read. */
function hostOf(url: string): string | undefined {
  const { hostname } = new URL(url);
  return hostname === "" ? undefined : hostname.replace(/^\[(.*)\]$/, "$1");
}

/** The server would end a connection that is idle: most of the time, this one is. Old servers lack the setting. */
function listenOn(channel: string): string {
  return (
    "select pg_catalog.set_config(name, '0', false) from pg_catalog.pg_settings where name = 'idle_session_timeout'; " +
    `listen "${channel.replaceAll('"', '""')}"`
  );
}

/** @throws {BrokerUnavailableError} when the package is missing */
export function loadPostgres(): Promise<Postgres> {
  return loadPackage("postgres", "PostgreSQL", async () => (await import("postgres")).default as unknown as Postgres);
}
