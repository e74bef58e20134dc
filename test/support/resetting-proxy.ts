import { createServer, connect as openSocket, type Server, type Socket } from "node:net";

/** A loopback address in front of a server, which ends connections as an overloaded or restarting server does. */
export class ResettingProxy {
  /** Of the coming requests, how many connections end without an answer. */
  endings = 0;
  /** A reset reaches the client as ECONNRESET, a close as "other side closed". */
  ending: "reset" | "close" = "reset";
  /** Requests that came, the ended ones too. */
  requests = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(targetPort: number) {
    this.#server = createServer((socket) => this.#serve(socket, targetPort));
  }

  static async start(targetPort: number): Promise<ResettingProxy> {
    const proxy = new ResettingProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get httpUrl(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the proxy does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
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
    target.pipe(socket);
    socket.on("data", (data: Buffer) => {
      if (data.subarray(0, 5).toString("latin1") === "POST ") {
        this.requests++;
        if (this.endings > 0) {
          this.endings--;
          if (this.ending === "reset") socket.resetAndDestroy();
          else socket.destroy();
          return;
        }
      }
      target.write(data);
    });
  }
}
