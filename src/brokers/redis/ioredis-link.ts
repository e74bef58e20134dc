import { timerHost } from "../../core/timer-host.ts";
import { RECONNECT_PAUSE_MS_MAX } from "../remote/limits.ts";
import type { Link, LinkListener } from "../remote/link.ts";
import { copyOf, type IoredisClient } from "./clients.ts";

/** The two connections of a broker through ioredis: a client that subscribes cannot publish. */
export interface IoredisClients {
  readonly publisher: IoredisClient;
  readonly subscriber: IoredisClient;
  /** Whether the publisher is the broker's own, to be connected and closed with it. */
  readonly ownsPublisher: boolean;
}

/** A link through ioredis. Both clients connect again by themselves. */
export class IoredisLink implements Link {
  #clients: IoredisClients;
  readonly #channel: string;
  readonly #listener: LinkListener;
  #isClosed = false;
  /** Counts what makes an answer stale. */
  #round = 0;
  /** Why a client failed last. */
  #failure: unknown;
  #stopTimer = (): void => {};
  readonly #undo: (() => void)[] = [];

  constructor(clients: IoredisClients, channel: string, listener: LinkListener) {
    this.#clients = clients;
    this.#channel = channel;
    this.#listener = listener;
  }

  /** Begins to connect. */
  start(): this {
    const { publisher, subscriber, ownsPublisher } = this.#clients;
    // Without this listener ioredis would write each failure to the console.
    for (const client of ownsPublisher ? [publisher, subscriber] : [subscriber]) {
      this.#on(client, "error", (error) => {
        this.#failure = error;
      });
    }
    for (const client of [subscriber, publisher]) {
      this.#on(client, "ready", () => this.#subscribe());
      this.#on(client, "close", () => {
        this.#round++;
        this.#listener.lost(this.#failure);
      });
    }
    this.#on(subscriber, "message", (channel, message) => {
      if (channel === this.#channel) this.#listener.received(String(message));
    });
    for (const client of ownsPublisher ? [publisher, subscriber] : [subscriber]) {
      // What goes wrong is told by the events.
      if (client.status === "wait") client.connect().catch(() => {});
    }
    return this;
  }

  async send(messages: readonly string[]): Promise<void> {
    const { publisher } = this.#clients;
    // ioredis would keep the message for later otherwise, when it is of no use any more.
    if (publisher.status !== "ready") throw new Error("the client that publishes is not connected");
    await Promise.all(messages.map((message) => publisher.publish(this.#channel, message)));
  }

  /** Subscribing again is the one question that reaches the connection that listens, of a `Cluster`, too. */
  async ping(): Promise<void> {
    const { publisher, subscriber } = this.#clients;
    await Promise.all([subscriber.subscribe(this.#channel), publisher.ping()]);
  }

  reconnect(reason: unknown): void {
    const { publisher, subscriber, ownsPublisher } = this.#clients;
    this.#failure = reason;
    this.#round++;
    this.#listener.lost(reason);
    if (ownsPublisher) {
      for (const client of [subscriber, publisher]) client.disconnect(true);
    } else if (publisher.status === "end") {
      // A client that was closed stays closed.
      subscriber.disconnect(true);
    } else {
      // The caller's may keep a silent connection for very long.
      this.#leave();
      this.#clients = { publisher: copyOf(publisher), subscriber: copyOf(publisher), ownsPublisher: true };
      this.start();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave();
  }

  #leave(): void {
    this.#stopTimer();
    for (const undo of this.#undo.splice(0)) undo();
    const { publisher, subscriber, ownsPublisher } = this.#clients;
    for (const client of ownsPublisher ? [subscriber, publisher] : [subscriber]) {
      client.on("error", () => {});
      client.disconnect();
    }
  }

  /** Tells that the link is connected when both connections have answered. */
  #subscribe(): void {
    const { publisher, subscriber } = this.#clients;
    this.#stopTimer();
    if (subscriber.status !== "ready" || publisher.status !== "ready") return;
    const round = ++this.#round;
    this.ping().then(
      () => {
        if (round !== this.#round) return;
        this.#failure = undefined;
        this.#listener.connected();
      },
      (error: unknown) => {
        if (this.#isClosed || round !== this.#round) return;
        // The connection may last, because the server only refuses the channel, until somebody gives the right.
        this.#stopTimer();
        this.#stopTimer = timerHost.startTimer(() => this.#subscribe(), RECONNECT_PAUSE_MS_MAX);
        this.#listener.lost(error);
      },
    );
  }

  #on(client: IoredisClient, event: string, listener: (...facts: unknown[]) => void): void {
    client.on(event, listener);
    this.#undo.push(() => client.off(event, listener));
  }
}
