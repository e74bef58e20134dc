import { LoopbackProxy } from "../support/loopback-proxy.ts";
import { Mosquitto } from "../support/mosquitto.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { RedisServer } from "../support/redis-server.ts";
import type { BrokerKind } from "./brokers.ts";

/** The server of a run's brokers, behind a proxy that can cut all connections. */
export class BrokerServer {
  readonly kind: BrokerKind;
  readonly #server: RedisServer | Mosquitto | PostgresServer;
  readonly #proxy: LoopbackProxy;

  private constructor(kind: BrokerKind, server: RedisServer | Mosquitto | PostgresServer, proxy: LoopbackProxy) {
    this.kind = kind;
    this.#server = server;
    this.#proxy = proxy;
  }

  static async start(kind: BrokerKind): Promise<BrokerServer> {
    const server = await { redis: RedisServer, mqtt: Mosquitto, postgres: PostgresServer }[kind].start();
    return new BrokerServer(kind, server, await LoopbackProxy.start(server.port));
  }

  /** Its address behind the proxy. */
  get url(): string {
    return this.#server.url.replace(`:${this.#server.port}`, `:${this.#proxy.port}`);
  }

  /** Cuts all connections in the middle. */
  cut(): void {
    this.#proxy.cut();
  }

  kill(): Promise<void> {
    return this.#server.kill();
  }

  resume(): Promise<void> {
    return this.#server.resume();
  }

  async stop(): Promise<void> {
    await this.#proxy.stop();
    await this.#server.stop();
  }
}
