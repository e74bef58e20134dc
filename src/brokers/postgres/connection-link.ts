import { systemClock } from "../../core/clock.ts";
import { IdGenerator } from "../../core/ids.ts";
import { timerHost } from "../../core/timer-host.ts";
import type { Link, LinkListener } from "../remote/link.ts";
import { reconnectPauseMs } from "../remote/pauses.ts";
import { BrokerConnection, type Postgres } from "./connection.ts";
import type { Target, Targets } from "./target.ts";

/** How a link reaches its server. */
export interface ConnectionLinkOptions extends Targets {
  readonly channel: string;
  /** Sends over other connections, until one is silent. Default: over the one that listens */
  readonly query?: SendStatement;
}

const DEAF =
  "a NOTIFY over another connection does not come back, because the address is that of a pool that lends its " +
  "connections for one transaction each (PgBouncer's pool_mode = transaction), which loses LISTEN; give the broker " +
  "the address of PostgreSQL itself, or of a pool in session mode";

/** A link that listens over one connection, which is made anew when it was lost. */
export class ConnectionLink implements Link {
  readonly #postgres: Postgres;
  readonly #options: ConnectionLinkOptions;
  readonly #listener: LinkListener;
  #notifier: Notifier;
  /** How it sends over connections that are not its own. */
  #elsewhere: SendStatement | null;
  #connection: BrokerConnection | null = null;
  /** The second connection of the test of hearing, while that lasts. */
  #probing: BrokerConnection | null = null;
  #isListening = false;
  /** Since the last connection: hosts that failed, and outages that were told. */
  #failures = 0;
  #outages = 0;
  #tries = 0;
  #stopTimer: () => void = () => {};
  #isHearingTested = false;
  #isClosed = false;

  constructor(postgres: Postgres, options: ConnectionLinkOptions, listener: LinkListener) {
    this.#postgres = postgres;
    this.#options = options;
    this.#listener = listener;
    this.#elsewhere = options.query ?? null;
    this.#notifier = this.#makeNotifier();
  }

  /** Begins to connect. */
  start(): this {
    void this.#connect();
    return this;
  }

  send(messages: readonly string[]): Promise<void> {
    return this.#notifier.send(messages);
  }

  async ping(): Promise<void> {
    await Promise.all([this.#connection?.run("select 1"), this.#elsewhere?.("select 1", [])]);
  }

  reconnect(reason: unknown): void {
    // A client gives no place back in which a call waits for a silent server.
    this.#elsewhere = null;
    this.#notifier.stop();
    this.#notifier = this.#makeNotifier();
    if (this.#connection !== null) this.#lost(reason);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    this.#endProbe();
    await this.#connection?.close();
  }

  async #connect(): Promise<void> {
    const { channel } = this.#options;
    const target = this.#options.target(this.#tries++);
    let connection: BrokerConnection | null = null;
    let heardElsewhere: string | null = null;
    try {
      connection = new BrokerConnection(this.#postgres, target, {
        received: (text, from) => {
          if (from === channel) this.#listener.received(text);
          else heardElsewhere = from;
        },
        ended: () => this.#lost(new Error("the connection was closed")),
      });
      this.#connection = connection;
      await connection.listen(channel);
    } catch (error) {
      this.#lost(error);
      return;
    }
    if (this.#isClosed || this.#connection !== connection) return;
    this.#isListening = true;
    this.#failures = 0;
    this.#outages = 0;
    this.#listener.connected();
    if (connection.isPooled && !this.#isHearingTested) {
      await this.#testHearing(connection, target, (probe) => heardElsewhere === probe);
    }
  }

  /** Over a pool that lends connections for one transaction each, LISTEN succeeds and nothing comes. What goes over
   *  one connection and comes back within the same statement proves nothing, hence the second one. */
  async #testHearing(
    connection: BrokerConnection,
    target: Target,
    hasHeard: (probe: string) => boolean,
  ): Promise<void> {
    const probe = `escapement ${new IdGenerator().next(systemClock.now())}`;
    const other = new BrokerConnection(this.#postgres, target, { received: () => {}, ended: () => {} });
    this.#probing = other;
    try {
      await connection.listen(probe);
      await other.run(`notify "${probe}"`);
      // The server sends what was notified before it answers what comes later.
      await connection.run("select 1");
      if (this.#isClosed || this.#connection !== connection) return;
      this.#isHearingTested = true;
      if (!hasHeard(probe)) this.#listener.deaf(DEAF);
    } catch {
      // The next connection is tested.
    } finally {
      this.#endProbe();
    }
  }

  /** Also called when the link is lost or closed, because a server that hangs never ends the test. */
  #endProbe(): void {
    this.#probing?.close().catch(() => {});
    this.#probing = null;
  }

  #lost(reason: unknown): void {
    if (this.#isClosed) return;
    const hasMoreHosts = !this.#isListening && ++this.#failures % this.#options.hosts !== 0;
    this.#isListening = false;
    this.#stopTimer();
    this.#endProbe();
    this.#connection?.close().catch(() => {});
    this.#connection = null;
    if (hasMoreHosts) {
      void this.#connect();
      return;
    }
    this.#stopTimer = timerHost.startTimer(() => void this.#connect(), reconnectPauseMs(++this.#outages));
    this.#listener.lost(reason);
  }

  #makeNotifier(): Notifier {
    const query: SendStatement = (text, parameters) => this.#query(text, parameters);
    return new Notifier(this.#options.channel, this.#elsewhere ?? query);
  }

  #query(text: string, parameters: string[]): PromiseLike<unknown> {
    const connection = this.#connection;
    if (connection === null || !this.#isListening) throw new Error("there is no connection");
    return connection.query(text, parameters);
  }
}

/** Sends one statement. */
type SendStatement = (text: string, parameters: string[]) => PromiseLike<unknown>;

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
class Notifier {
  readonly #channel: string;
  readonly #query: SendStatement;
  #waiting: Waiting[] = [];
  #isSending = false;

  constructor(channel: string, query: SendStatement) {
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

  /** Sends nothing more of what waits. */
  stop(): void {
    this.#waiting = [];
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
