import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { ServerProcess, serverBinary } from "./server-process.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A real Redis server on loopback and on a unix socket, which keeps nothing on disk. */
export class RedisServer {
  readonly port: number;
  /** Path of its unix socket. */
  readonly socket: string;
  readonly #server: ServerProcess;
  readonly #password: string | undefined;
  readonly #folder: Awaited<ReturnType<typeof temporaryFolder>>;

  private constructor(
    port: number,
    folder: Awaited<ReturnType<typeof temporaryFolder>>,
    options: { readonly password?: string; readonly args?: readonly string[] },
  ) {
    this.port = port;
    this.#folder = folder;
    this.#password = options.password;
    this.socket = join(folder.path, "redis.sock");
    const keepsNothing = ["--save", "", "--appendonly", "no", "--dir", folder.path];
    const password = options.password === undefined ? [] : ["--requirepass", options.password];
    const listens = ["--port", `${port}`, "--bind", "127.0.0.1", "--unixsocket", this.socket];
    this.#server = new ServerProcess({
      name: "redis-server",
      command: serverBinary("redis-server", "redis-server"),
      args: [...listens, ...keepsNothing, ...password, ...(options.args ?? [])],
      // Two versions say it in two ways, and both say it last of the unix socket.
      ready: /ready to accept connections (?:at|unix)/i,
    });
  }

  /**
   * @param options.password what clients must say. Default: none
   * @param options.args more arguments of redis-server, such as `["--timeout", "1"]`
   */
  static async start(
    options: { readonly password?: string; readonly args?: readonly string[] } = {},
  ): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await temporaryFolder(), options);
    await server.resume();
    return server;
  }

  /** Its address, with the password where it has one. */
  get url(): string {
    const credentials = this.#password === undefined ? "" : `:${encodeURIComponent(this.#password)}@`;
    return `redis://${credentials}127.0.0.1:${this.port}`;
  }

  /** Starts it after `kill`, on the same port. */
  resume(): Promise<void> {
    return this.#server.start();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.resume();
  }

  /** Ends the process at once, as a crash does. */
  kill(): Promise<void> {
    return this.#server.kill();
  }

  /** Freezes the process, so that it neither answers nor refuses, or lets it go on. */
  freeze(isFrozen: boolean): void {
    this.#server.freeze(isFrozen);
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.#folder.remove();
  }
}
