import { createServer, connect as openSocket, type Server, type Socket } from "node:net";

/** What a proxy does with data from a client. */
export type Forward = (data: Buffer, client: Socket, server: Socket) => void;

/** A loopback port in front of a server. Its connections can be cut, as by a network that fails. */
export class LoopbackProxy {
  /** How many connections came. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #pairs: (readonly [client: Socket, server: Socket])[] = [];
  readonly #silent = new Set<Socket>();

  /** @param forward default: sends all data on to the server */
  protected constructor(targetPort: number, forward?: Forward) {
    // A network that is silent does not answer the end of a connection.
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#serve(client, targetPort, forward));
  }

  static async start(targetPort: number): Promise<LoopbackProxy> {
    return new LoopbackProxy(targetPort).listen();
  }

  protected async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
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

  /** Carries nothing more over the present connections, and ends none of them, as a network that is gone. New ones are
   *  served. */
  silence(): void {
    for (const [client, server] of this.#pairs) {
      this.#silent.add(client);
      for (const [source, target] of [
        [client, server],
        [server, client],
      ] as const) {
        source.unpipe(target);
        source.resume();
      }
    }
  }

  /** Resolves when the clients have closed all connections that went silent, and not only asked for their end. */
  async left(): Promise<void> {
    for (const client of this.#silent) {
      // Whoever has closed a connection answers with a reset, of which a further write hears.
      while (!client.closed) {
        if (client.readableEnded) client.write(".");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(client: Socket, targetPort: number, forward: Forward | undefined): void {
    this.connections++;
    const server = openSocket({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true });
    this.#pairs.push([client, server]);
    for (const end of [client, server]) {
      this.#sockets.add(end);
      end.on("error", () => {});
      end.once("close", () => {
        this.#sockets.delete(end);
        client.destroy();
        server.destroy();
      });
    }
    server.pipe(client);
    if (forward === undefined) {
      client.pipe(server);
      return;
    }
    client.on("data", (data: Buffer) => forward(data, client, server));
    client.on("end", () => server.end());
  }
}
