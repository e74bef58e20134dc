import { OptionsError } from "../core/errors.ts";
import { guardedLogger, type Logger } from "../core/logger.ts";
import { receivedEvents } from "../records/event-schema.ts";
import type { EventRecord } from "../records/events.ts";
import type { EventBroker, Unsubscribe } from "./event-broker.ts";
import { REFUSALS_TOLD_MAX } from "./limits.ts";
import { LocalEventBroker } from "./local.ts";

/** The part of the web's `BroadcastChannel` that the broker uses. */
interface Channel {
  onmessage: ((message: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
  /** Only in Node: lets the process end while the channel is open. */
  unref?(): void;
}

interface Message {
  readonly escapement: 1;
  readonly events: readonly EventRecord[];
}

/**
 * Carries events between the threads of a process, or the tabs and workers of a browser's origin, over the web's
 * `BroadcastChannel`. It does not reach other processes. Node, Deno, Bun and browsers have it; workerd does not.
 *
 * @example
 * const scheduler = new Scheduler({ dataStore, eventBroker: new BroadcastChannelEventBroker() });
 */
export class BroadcastChannelEventBroker implements EventBroker {
  readonly isLocal: boolean = true;
  /** Delivers the broker's own events, because a channel does not deliver a message to its sender. */
  readonly #local = new LocalEventBroker();
  readonly #name: string;
  readonly #logger: Logger | null;
  /** What the logger was told, so that it is told once. */
  readonly #told = new Set<string>();
  #channel: Channel | null = null;

  /**
   * @param options.channel name of the channel. Brokers with the same name hear each other. Default: `"escapement"`
   * @param options.logger told at debug level, once for each reason, of messages that are dropped: events of a type
   *   that only a newer version of this library knows, and what others post on the channel. Default: nobody is told
   * @throws {OptionsError} where the runtime has no `BroadcastChannel`
   */
  constructor(options: { channel?: string | undefined; logger?: Logger | undefined } = {}) {
    if (typeof globalThis.BroadcastChannel !== "function") {
      throw new OptionsError("this runtime has no BroadcastChannel; use another event broker", []);
    }
    this.#name = options.channel ?? "escapement";
    this.#logger = options.logger === undefined ? null : guardedLogger(options.logger);
  }

  async open(): Promise<void> {
    if (this.#channel !== null) return;
    const channel = new globalThis.BroadcastChannel(this.#name) as Channel;
    channel.onmessage = ({ data }) => this.#receive(data);
    channel.unref?.();
    this.#channel = channel;
  }

  async publish(events: readonly EventRecord[]): Promise<void> {
    if (events.length === 0) return;
    // A channel that was closed throws the same.
    if (this.#channel === null)
      throw new DOMException("the event broker is not open: call open()", "InvalidStateError");
    this.#channel.postMessage({ escapement: 1, events } satisfies Message);
    await this.#local.publish(events);
  }

  subscribe(listener: (event: EventRecord) => void): Unsubscribe {
    return this.#local.subscribe(listener);
  }

  async close(): Promise<void> {
    this.#channel?.close();
    this.#channel = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Anybody may post on a channel. */
  #receive(data: unknown): void {
    const isMessage = typeof data === "object" && data !== null && (data as Partial<Message>).escapement === 1;
    if (!isMessage) this.#refuse("a message of another program, or of another version, is dropped");
    else void this.#local.publish(receivedEvents((data as Message).events, (reason) => this.#refuse(reason)));
  }

  #refuse(reason: string): void {
    if (this.#told.has(reason) || this.#told.size >= REFUSALS_TOLD_MAX) return;
    this.#told.add(reason);
    this.#logger?.debug(`escapement: on the channel "${this.#name}", ${reason}`);
  }
}
