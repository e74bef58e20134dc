import * as v from "valibot";
import { OptionsError } from "../core/errors.ts";
import { EVENT_TYPES, type EventRecord } from "../records/events.ts";
import type { EventBroker, Unsubscribe } from "./event-broker.ts";
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

/** The messages that the broker understands. Others are ignored, because anybody may post on a channel, for example
 *  another version of this library. */
const messageSchema = v.object({
  escapement: v.literal(1),
  events: v.array(v.looseObject({ type: v.picklist(EVENT_TYPES), timestampMs: v.number() })),
});

/**
 * Carries events between the threads of a process, or the tabs and workers of a browser's origin, over the web's
 * `BroadcastChannel`. It does not reach other processes. Node, Deno, Bun and browsers have it; workerd does not.
 *
 * @example
 * const scheduler = new Scheduler({ dataStore, eventBroker: new BroadcastChannelEventBroker() });
 */
export class BroadcastChannelEventBroker implements EventBroker {
  /** Delivers the broker's own events, because a channel does not deliver a message to its sender. */
  readonly #local = new LocalEventBroker();
  readonly #name: string;
  #channel: Channel | null = null;

  /**
   * @param options.channel name of the channel. Brokers with the same name hear each other. Default: `"escapement"`
   * @throws {OptionsError} where the runtime has no `BroadcastChannel`
   */
  constructor(options: { channel?: string } = {}) {
    if (typeof globalThis.BroadcastChannel !== "function") {
      throw new OptionsError("this runtime has no BroadcastChannel; use another event broker", []);
    }
    this.#name = options.channel ?? "escapement";
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
    this.#channel?.postMessage({ escapement: 1, events } satisfies Message);
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

  #receive(data: unknown): void {
    if (v.is(messageSchema, data)) void this.#local.publish((data as unknown as Message).events);
  }
}
