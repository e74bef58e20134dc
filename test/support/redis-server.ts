import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { serverBinary, TestServer } from "./server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";

/** A real Redis server on loopback and on a unix socket, which keeps nothing on disk. */
export class RedisServer extends TestServer {
  readonly port: number;
  /** Path of its unix socket. */
  readonly socket: string;
  readonly #password: string | undefined;

  private constructor(
    port: number,
    folder: TemporaryFolder,
    options: { readonly password?: string; readonly args?: readonly string[] },
  ) {
    const socket = join(folder.path, "redis.sock");
    const keepsNothing = ["--save", "", "--appendonly", "no", "--dir", folder.path];
    const password = options.password === undefined ? [] : ["--requirepass", options.password];
    const listens = ["--port", `${port}`, "--bind", "127.0.0.1", "--unixsocket", socket];
    const command = {
      name: "redis-server",
      command: serverBinary("redis-server", "redis-server"),
      args: [...listens, ...keepsNothing, ...password, ...(options.args ?? [])],
      // Two versions say it in two ways, and both say it last of the unix socket.
      ready: /ready to accept connections (?:at|unix)/i,
    };
    super(command, folder);
    this.port = port;
    this.socket = socket;
    this.#password = options.password;
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
}
