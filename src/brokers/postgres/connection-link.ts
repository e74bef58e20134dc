import { timerHost } from "../../core/timer-host.ts";
import type { Link, LinkListener } from "../remote/link.ts";
import { reconnectPauseMs } from "../remote/pauses.ts";
import { Connection, type Postgres } from "./connection.ts";
import { Notifier } from "./notifier.ts";
import type { PostgresUrlBrokerOptions } from "./options.ts";

/** How often a connection is asked whether it still lives, in milliseconds: a router may forget a silent one, and tells
 *  nobody. */
const HEARTBEAT_MS = 20_000;

/** A link over one connection, which is made anew when it was lost. */
export class ConnectionLink implements Link {
  readonly #postgres: Postgres;
  readonly #options: PostgresUrlBrokerOptions;
  readonly #channel: string;
  readonly #listener: LinkListener;
  readonly #notifier: Notifier;
  #connection: Connection | null = null;
  #isListening = false;
  /** Tries to connect since the last connection, and all of them. */
  #failures = 0;
  #tries = 0;
  #stopTimer: () => void = () => {};
  #isClosed = false;

  constructor(postgres: Postgres, options: PostgresUrlBrokerOptions, channel: string, listener: LinkListener) {
    this.#postgres = postgres;
    this.#options = options;
    this.#channel = channel;
    this.#listener = listener;
    this.#notifier = new Notifier(channel, (text, parameters) => this.#query(text, parameters));
  }

  /** Begins to connect. */
  start(): this {
    void this.#connect();
    return this;
  }

  send(messages: readonly string[]): Promise<void> {
    return this.#notifier.send(messages);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#connection?.close();
  }

  async #connect(): Promise<void> {
    let connection: Connection | null = null;
    try {
      connection = new Connection(this.#postgres, this.#options, this.#tries++, {
        received: (text) => this.#listener.received(text),
        ended: () => this.#lost(new Error("the connection was closed")),
      });
      this.#connection = connection;
      await connection.listen(this.#channel);
    } catch (error) {
      this.#lost(error);
      return;
    }
    if (this.#isClosed || this.#connection !== connection) return;
    this.#isListening = true;
    this.#failures = 0;
    this.#listener.connected();
    this.#startHeartbeat(connection);
  }

  #lost(reason: unknown): void {
    if (this.#isClosed) return;
    this.#isListening = false;
    this.#stopTimer();
    this.#connection?.close().catch(() => {});
    this.#connection = null;
    this.#failures++;
    this.#stopTimer = timerHost.startTimer(() => void this.#connect(), reconnectPauseMs(this.#failures));
    this.#listener.lost(reason);
  }

  #query(text: string, parameters: string[]): PromiseLike<unknown> {
    const connection = this.#connection;
    if (connection === null || !this.#isListening) throw new Error("there is no connection");
    return connection.query(text, parameters);
  }

  #startHeartbeat(connection: Connection): void {
    let isAnswered = true;
    const beat = (): void => {
      if (!isAnswered) {
        this.#lost(new Error(`the server did not answer within ${HEARTBEAT_MS} ms`));
        return;
      }
      isAnswered = false;
      // A failure ends the connection, too.
      connection.query("select 1", []).then(
        () => {
          isAnswered = true;
        },
        () => {},
      );
      this.#stopTimer = timerHost.startTimer(beat, HEARTBEAT_MS);
    };
    this.#stopTimer = timerHost.startTimer(beat, HEARTBEAT_MS);
  }
}
