import { systemClock } from "../../core/clock.ts";
import { timerHost } from "../../core/timer-host.ts";
import { RECONNECT_PAUSE_MS_MAX } from "../remote/limits.ts";
import type { Link, LinkListener } from "../remote/link.ts";
import { reconnectPauseMs } from "../remote/pauses.ts";
import type { OwnMqttClient } from "./own-client.ts";
import { TopicLink, type TopicSettings } from "./topic-link.ts";

/** How long a server may take to end a connection that was closed, in milliseconds. */
const CLOSE_WAIT_MS = 500;

/** A link that makes its own clients: a new one for each connection, so that nothing of a connection that was lost is
 *  sent later. */
export class UrlLink implements Link {
  readonly #connect: () => OwnMqttClient;
  readonly #settings: TopicSettings;
  readonly #listener: LinkListener;
  #client: OwnMqttClient | null = null;
  #link: TopicLink | null = null;
  #stopTimer = (): void => {};
  #tries = 0;
  #connectedAt: number | null = null;

  constructor(connect: () => OwnMqttClient, settings: TopicSettings, listener: LinkListener) {
    this.#connect = connect;
    this.#settings = settings;
    this.#listener = listener;
  }

  /** Begins to connect. */
  start(): this {
    const client = this.#connect();
    const link: TopicLink = new TopicLink(client, this.#settings, true, {
      connected: () => {
        this.#connectedAt = systemClock.now();
        this.#listener.connected();
      },
      deaf: (reason) => this.#listener.deaf(reason),
      lost: (reason) => {
        if (this.#link === link) this.#startAnew(reason);
      },
      received: (text) => this.#listener.received(text),
    });
    this.#client = client;
    this.#link = link;
    link.start();
    return this;
  }

  async send(messages: readonly string[]): Promise<void> {
    if (this.#link === null) throw new Error("the client is not connected");
    await this.#link.send(messages);
  }

  async ping(): Promise<void> {
    await this.#link?.ping();
  }

  reconnect(reason: unknown): void {
    if (this.#link !== null) this.#startAnew(reason);
  }

  /** What was sent still leaves, unless the server hangs. */
  async close(): Promise<void> {
    this.#stopTimer();
    const client = this.#client;
    await this.#leave();
    if (client?.connected !== true) {
      client?.end(true, () => {});
      return;
    }
    await new Promise<void>((resolve) => {
      const stopTimer = timerHost.startTimer(() => {
        client.stream?.destroy();
        resolve();
      }, CLOSE_WAIT_MS);
      client.end(false, () => {
        stopTimer();
        resolve();
      });
    });
  }

  #startAnew(reason: unknown): void {
    const client = this.#client;
    void this.#leave();
    client?.end(true, () => {});
    // Two clients with one id end each other's connections, again and again.
    const hasLasted = this.#connectedAt !== null && systemClock.now() - this.#connectedAt > RECONNECT_PAUSE_MS_MAX;
    this.#connectedAt = null;
    this.#tries = hasLasted ? 1 : this.#tries + 1;
    this.#stopTimer = timerHost.startTimer(() => this.start(), reconnectPauseMs(this.#tries));
    this.#listener.lost(reason);
  }

  async #leave(): Promise<void> {
    const link = this.#link;
    this.#link = null;
    this.#client = null;
    await link?.close();
  }
}
