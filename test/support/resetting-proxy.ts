import type { Socket } from "node:net";
import { LoopbackProxy } from "./loopback-proxy.ts";

/** A loopback address in front of a server, which ends connections as an overloaded or restarting server does. */
export class ResettingProxy extends LoopbackProxy {
  /** Of the coming requests, how many connections end without an answer. */
  endings = 0;
  /** A reset reaches the client as ECONNRESET, a close as "other side closed". */
  ending: "reset" | "close" = "reset";
  /** Requests that came, the ended ones too. */
  requests = 0;

  private constructor(targetPort: number) {
    super(targetPort, (data, client, server) => this.#forward(data, client, server));
  }

  static override async start(targetPort: number): Promise<ResettingProxy> {
    return new ResettingProxy(targetPort).listen();
  }

  get httpUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  #forward(data: Buffer, client: Socket, server: Socket): void {
    if (data.subarray(0, 5).toString("latin1") === "POST ") {
      this.requests++;
      if (this.endings > 0) {
        this.endings--;
        if (this.ending === "reset") client.resetAndDestroy();
        else client.destroy();
        return;
      }
    }
    server.write(data);
  }
}
