import { timerHost } from "../../core/timer-host.ts";
import { RECONNECT_PAUSE_MS_MAX } from "../remote/limits.ts";
import type { Link, LinkListener } from "../remote/link.ts";
import type { NodeRedisClient } from "./clients.ts";

/** A link through node-redis. The client that publishes is the caller's, until its connection is silent; the one that
 *  subscribes is a copy of it. */
export class NodeRedisLink implements Link {
  readonly #given: NodeRedisClient;
  #publisher: NodeRedisClient;
  #subscriber: NodeRedisClient;
  readonly #channel: string;
  readonly #listener: LinkListener;
  #isSubscribed = false;
  #isClosed = false;
  /** Counts what makes an answer stale. */
  #round = 0;
  #stopTimer = (): void => {};
  readonly #undo: (() => void)[] = [];

  constructor(publisher: NodeRedisClient, channel: string, listener: LinkListener) {
    this.#given = publisher;
    this.#publisher = publisher;
    this.#subscriber = publisher.duplicate();
    this.#channel = channel;
    this.#listener = listener;
  }

  /** Begins to connect. */
  start(): this {
    // An error that nobody listens to would end the process.
    this.#on(this.#subscriber, "error", (error) => this.#tellLost(error));
    this.#on(this.#publisher, "error", (error) => this.#tellLost(error));
    this.#on(this.#publisher, "end", () => this.#tellLost(new Error("the client that publishes was closed")));
    // The client subscribes again before it says that it is ready.
    for (const client of [this.#subscriber, this.#publisher]) this.#on(client, "ready", () => this.#tellReady());
    const subscriber = this.#subscriber;
    const fail = (error: unknown): void => {
      if (subscriber === this.#subscriber) this.#listener.lost(error);
    };
    subscriber.connect().then(() => this.#subscribe(), fail);
    if (this.#ownsPublisher) this.#publisher.connect().catch(fail);
    return this;
  }

  async send(messages: readonly string[]): Promise<void> {
    // The client would keep the message for later otherwise, when it is of no use any more.
    if (!this.#publisher.isReady) throw new Error("the client that publishes is not connected");
    await Promise.all(messages.map((message) => this.#publisher.publish(this.#channel, message)));
  }

  async ping(): Promise<void> {
    await Promise.all([this.#subscriber.ping(), this.#publisher.ping()]);
  }

  reconnect(reason: unknown): void {
    this.#listener.lost(reason);
    // A client that was closed stays closed.
    if (!this.#given.isOpen) return;
    this.#leave();
    this.#subscriber = this.#given.duplicate();
    // The caller's may keep a silent connection for very long.
    this.#publisher = this.#given.duplicate();
    this.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leave();
  }

  #leave(): void {
    this.#round++;
    this.#isSubscribed = false;
    this.#stopTimer();
    for (const undo of this.#undo.splice(0)) undo();
    for (const client of this.#ownsPublisher ? [this.#subscriber, this.#publisher] : [this.#subscriber]) {
      client.on("error", () => {});
      client.destroy();
    }
  }

  get #ownsPublisher(): boolean {
    return this.#publisher !== this.#given;
  }

  async #subscribe(): Promise<void> {
    const subscriber = this.#subscriber;
    if (this.#isClosed) return;
    try {
      await subscriber.subscribe(this.#channel, (message) => this.#listener.received(message));
      if (subscriber !== this.#subscriber) return;
      this.#isSubscribed = true;
      this.#tellReady();
    } catch (error) {
      if (this.#isClosed || subscriber !== this.#subscriber) return;
      this.#listener.lost(error);
      // The connection may last, because the server only refuses the channel, until somebody gives the right.
      if (subscriber.isOpen) {
        this.#stopTimer = timerHost.startTimer(() => void this.#subscribe(), RECONNECT_PAUSE_MS_MAX);
      }
    }
  }

  /** Tells that the link is connected when both connections have answered. */
  #tellReady(): void {
    if (!this.#isSubscribed || !this.#subscriber.isReady || !this.#publisher.isReady) return;
    const round = ++this.#round;
    this.ping().then(
      () => {
        if (round === this.#round) this.#listener.connected();
      },
      (error: unknown) => {
        if (round === this.#round) this.#listener.lost(error);
      },
    );
  }

  /** Not every error of a client is the end of its connection. */
  #tellLost(reason: unknown): void {
    if (this.#subscriber.isReady && this.#publisher.isReady) return;
    this.#round++;
    this.#listener.lost(reason);
  }

  #on(client: NodeRedisClient, event: string, listener: (...facts: unknown[]) => void): void {
    client.on(event, listener);
    this.#undo.push(() => client.off(event, listener));
  }
}
