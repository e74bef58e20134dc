import { createServer, connect as openSocket, type Server, type Socket } from "node:net";

/** A loopback address in front of a server of any protocol, which cuts connections as a broken network does. */
export class CuttingProxy {
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

  /** Ends all connections in the middle of what they carry. New ones are served. */
  cut(): void {
    for (const socket of [...this.#sockets]) socket.destroy();
  }

  async stop(): Promise<void> {
    const stopped = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await stopped;
  }

  #serve(socket: Socket, targetPort: number): void {
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
