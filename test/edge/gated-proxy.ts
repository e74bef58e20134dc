import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A loopback address in front of a server. While it is shut, requests wait at it, and reach the server when it is
 *  opened, unless their sender has gone. */
export class GatedProxy {
  readonly #server: Server;
  #waiting: (() => void)[] = [];
  #isShut = false;
  #whenAsked: (() => void)[] = [];

  private constructor(targetPort: number) {
    this.#server = createServer((incoming, answer) => {
      const pass = (): void => {
        if (answer.destroyed) return;
        const { method, url, headers } = incoming;
        const passed = request({ host: "127.0.0.1", port: targetPort, method, path: url, headers }, (response) => {
          answer.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(answer);
        });
        passed.on("error", () => answer.destroy());
        incoming.pipe(passed);
      };
      if (this.#isShut) this.#waiting.push(pass);
      else pass();
      for (const resolve of this.#whenAsked.splice(0)) resolve();
    });
  }

  static async start(targetPort: number): Promise<GatedProxy> {
    const proxy = new GatedProxy(targetPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  shut(): void {
    this.#isShut = true;
  }

  open(): void {
    this.#isShut = false;
    for (const pass of this.#waiting.splice(0)) pass();
  }

  /** Resolves when the next request has come. */
  nextRequest(): Promise<void> {
    return new Promise((resolve) => this.#whenAsked.push(resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
