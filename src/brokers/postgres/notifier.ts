/** Sends one statement. */
export type Query = (text: string, parameters: string[]) => PromiseLike<unknown>;

// One row, however many messages. Nothing is written, hence nobody has to wait until the server's log is on the disk.
// The messages come as one text, because a client first has to ask the server how to make an array.
const NOTIFY =
  "select pg_catalog.set_config('synchronous_commit', 'off', true), count(pg_catalog.pg_notify($1, message)) " +
  "from pg_catalog.unnest(pg_catalog.string_to_array($2::pg_catalog.text, E'\\n')) as message";

interface Waiting {
  readonly messages: readonly string[];
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * Sends messages by `pg_notify`, one statement after the other: with a pool, two statements at once could overtake each
 * other. What is sent during a statement goes into the next one, all together, because a statement costs more than a
 * message.
 */
export class Notifier {
  readonly #channel: string;
  readonly #query: Query;
  #waiting: Waiting[] = [];
  #isSending = false;

  constructor(channel: string, query: Query) {
    this.#channel = channel;
    this.#query = query;
  }

  /** Resolves when the server has taken the messages.
   *  @param messages texts without line breaks, as those that `JSON.stringify` makes */
  send(messages: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ messages, resolve, reject });
      if (!this.#isSending) void this.#sendAll();
    });
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const sent = this.#waiting;
      this.#waiting = [];
      try {
        await this.#query(NOTIFY, [this.#channel, sent.flatMap(({ messages }) => messages).join("\n")]);
        for (const { resolve } of sent) resolve();
      } catch (error) {
        for (const { reject } of sent) reject(error);
      }
    }
    this.#isSending = false;
  }
}
