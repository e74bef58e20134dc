import { createServer, connect as openSocket, type Server, type Socket } from "node:net";

/** A loopback port in front of a server. Its connections can be cut, as by a network that fails. */
export class CuttingProxy {
  /** How many connections came. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(targetPort: number) {
    this.#server = createServer((socket) => this.#serve(socket, targetPort));
  }

  static async start(targetPort: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the proxy does not listen");
    return address.port;
  }

  /** Ends all present connections. New ones may come at once. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket, targetPort: number): void {
    this.connections++;
    const target = openSocket(targetPort, "127.0.0.1");
    for (const end of [socket, target]) {
      this.#sockets.add(end);
      end.on("error", () => {});
      end.once("close", () => {
        this.#sockets.delete(end);
        socket.destroy();
        target.destroy();
      });
    }
    target.pipe(socket);
    socket.pipe(target);
  }
}
