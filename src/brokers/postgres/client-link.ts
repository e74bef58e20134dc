import type { Link, LinkListener } from "../remote/link.ts";
import type { PostgresClient } from "./client.ts";
import { Notifier } from "./notifier.ts";

/** A link over a client of the caller's, which listens on a connection of its own and connects again by itself. */
export class ClientLink implements Link {
  readonly #client: PostgresClient;
  readonly #channel: string;
  readonly #listener: LinkListener;
  readonly #notifier: Notifier;
  #isListening = false;
  #isClosed = false;
  #unlisten: (() => Promise<unknown>) | null = null;

  constructor(client: PostgresClient, channel: string, listener: LinkListener) {
    this.#client = client;
    this.#channel = channel;
    this.#listener = listener;
    this.#notifier = new Notifier(channel, (text, parameters) => client.unsafe(text, parameters, { prepare: true }));
  }

  /** Begins to listen. */
  start(): this {
    const received = (text: string): void => {
      if (!this.#isClosed) this.#listener.received(text);
    };
    this.#client
      .listen(this.#channel, received, () => this.#listening())
      .then(
        ({ unlisten }) => {
          this.#unlisten = unlisten;
          if (this.#isClosed) this.#endListening();
        },
        // The client goes on trying.
        (error: unknown) => this.#listener.lost(error),
      );
    return this;
  }

  send(messages: readonly string[]): Promise<void> {
    return this.#notifier.send(messages);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endListening();
  }

  /** Nobody waits for it, because a server that is away gives no answer. */
  #endListening(): void {
    this.#unlisten?.().catch(() => {});
    this.#unlisten = null;
  }

  /** The client tells when it listens, and not when it no longer does. */
  #listening(): void {
    if (this.#isClosed) return;
    if (this.#isListening) this.#listener.lost(new Error("the connection was lost, and is there again"));
    this.#isListening = true;
    this.#listener.connected();
  }
}
