import { createServer, connect as openSocket, type Server, type Socket } from "node:net";

/** A loopback address in front of a server, whose connections can be cut in the middle, whatever they speak. */
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

  /** Resets all connections, with what is under way in them. New ones are taken. @returns how many there were */
  cut(): number {
    const count = this.#sockets.size / 2;
    for (const socket of this.#sockets) socket.resetAndDestroy();
    return Math.ceil(count);
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
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
    socket.pipe(target);
    target.pipe(socket);
  }
}
