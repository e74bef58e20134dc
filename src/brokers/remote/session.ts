import { systemClock } from "../../core/clock.ts";
import { IdGenerator } from "../../core/ids.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import { type TimerHost, timerHost } from "../../core/timer-host.ts";
import { prepareToReceive, receivedEvents } from "../../records/event-schema.ts";
import type { EventRecord } from "../../records/events.ts";
import { REFUSALS_TOLD_MAX } from "../limits.ts";
import { EnvelopeWriter, readEnvelope } from "./envelope.ts";
import { BrokerUnavailableError } from "./errors.ts";
import { redacted } from "./failure.ts";
import { CONNECT_WAIT_MS, HEARTBEAT_MS, PENDING_BYTES_MAX, PING_WAIT_MS } from "./limits.ts";
import type { Link, LinkMaker } from "./link.ts";
import { Publishers } from "./publishers.ts";

/** Where a session puts what it hears. */
export interface SessionOutlets {
  deliver(events: readonly EventRecord[]): void;
  tellGap(): void;
}

/** One time that a broker is open, from `open` to `close`. Nothing is heard of a session that was closed. */
export class BrokerSession {
  readonly #maker: LinkMaker;
  readonly #outlets: SessionOutlets;
  readonly #logger: Logger;
  /** The name of this session, by which it knows its own messages. */
  readonly #from: string = new IdGenerator().next(systemClock.now());
  readonly #writer: EnvelopeWriter;
  readonly #publishers = new Publishers();
  readonly #heartbeat: LinkHeartbeat;
  /** What the logger was told of messages, so that it is told once. */
  readonly #told = new Set<string>();
  #link: Link | null = null;
  #isConnected = false;
  #isClosed = false;
  /** Whether the log says that the connection is lost. */
  #isOutageTold = false;
  #lastFailure: Error | null = null;
  /** Ends the wait of `open()`; null when it has ended. */
  #endWait: (() => void) | null = null;
  /** Whether messages were numbered that did not reach the server. */
  #hasUnsent = false;
  #pendingBytes = 0;
  /** The sends that wait for an answer: rejects them. */
  readonly #waiting = new Set<(reason: unknown) => void>();

  /** @param timers the heartbeat's */
  constructor(maker: LinkMaker, outlets: SessionOutlets, timers: TimerHost, logger: Logger = silentLogger) {
    this.#maker = maker;
    this.#outlets = outlets;
    this.#logger = logger;
    this.#writer = new EnvelopeWriter({ namespace: maker.namespace, from: this.#from, bytesMax: maker.bytesMax });
    const silent = (reason: unknown): void => this.#link?.reconnect(reason);
    this.#heartbeat = new LinkHeartbeat({ ping: () => this.#ping(), silent }, timers);
  }

  /** Resolves when there is a connection, when the first try has failed, or after a while. */
  async open(): Promise<void> {
    const waited = new Promise<void>((resolve) => {
      const stopTimer = timerHost.startTimer(() => this.#endWait?.(), CONNECT_WAIT_MS);
      this.#endWait = () => {
        stopTimer();
        this.#endWait = null;
        resolve();
      };
    });
    try {
      const link = await this.#maker.make({
        connected: () => this.#connected(),
        lost: (reason) => this.#lost(reason),
        received: (text) => this.#received(text),
        deaf: (reason) => this.#tellDeaf(reason),
      });
      this.#link = link;
      // There is time while the link connects.
      prepareToReceive();
      if (this.#isClosed) await link.close();
      else this.#heartbeat.start();
    } catch (error) {
      this.#endWait?.();
      throw error;
    }
    await waited;
    if (!this.#isConnected) this.#tellOutage();
  }

  /** @throws {BrokerUnavailableError} at once where there is no connection */
  async send(events: readonly EventRecord[]): Promise<void> {
    const messages = this.#writer.write(events);
    const link = this.#link;
    if (link === null || !this.#isConnected) throw this.#unsent("has no connection");
    const bytes = messages.reduce((sum, message) => sum + message.length, 0);
    if (this.#pendingBytes + bytes > PENDING_BYTES_MAX) throw this.#unsent("gets no answers");
    this.#pendingBytes += bytes;
    try {
      await this.#whileConnected(link.send(messages));
    } catch (error) {
      throw this.#unsent("failed to send", error);
    } finally {
      this.#pendingBytes -= bytes;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isConnected = false;
    this.#heartbeat.stop();
    this.#endWait?.();
    this.#endSends(new Error("the broker was closed"));
    const link = this.#link;
    this.#link = null;
    await link?.close();
  }

  #connected(): void {
    if (this.#isClosed || this.#isConnected) return;
    this.#isConnected = true;
    this.#heartbeat.start();
    this.#lastFailure = null;
    if (this.#isOutageTold) this.#logger.info(`escapement: the event broker is connected to ${this.#maker.address}`);
    this.#isOutageTold = false;
    this.#publishers.clear();
    this.#tellUnsent();
    // The first connection has missed nothing, unless somebody publishes already, because `open()` has resolved.
    if (this.#endWait === null) this.#outlets.tellGap();
    else this.#endWait();
  }

  #lost(reason: unknown): void {
    if (this.#isClosed) return;
    const wasConnected = this.#isConnected;
    this.#isConnected = false;
    this.#heartbeat.start();
    this.#lastFailure = redacted(reason, this.#maker.secrets);
    // Clients may keep what was sent, and answer much later, when the connection is there again.
    this.#endSends(reason);
    if (wasConnected) this.#tellOutage();
    this.#endWait?.();
  }

  /** Links that connect anew tell of each try, and start the heartbeat by that: one that tells nothing hangs. */
  async #ping(): Promise<void> {
    if (!this.#isConnected) throw new Error("the server did not answer while the broker connected");
    await this.#link?.ping();
  }

  #tellDeaf(reason: string): void {
    if (this.#isClosed) return;
    this.#logger.warn(
      `escapement: the event broker sends over ${this.#maker.address} and hears nothing: ${reason}; until then, this ` +
        "process notices the changes of others with a delay",
    );
  }

  /** Once for each outage: the client tries again and again. */
  #tellOutage(): void {
    if (this.#isOutageTold || this.#isClosed) return;
    this.#isOutageTold = true;
    this.#logger.warn(
      `escapement: the event broker has no connection to ${this.#maker.address}, and goes on trying; until then, ` +
        "schedulers notice each other's changes with a delay",
      ...(this.#lastFailure === null ? [] : [this.#lastFailure]),
    );
  }

  #received(text: string): void {
    if (this.#isClosed || this.#writer.isOwn(text)) return;
    const { bytesMax } = this.#maker;
    if (text.length > bytesMax) {
      this.#refuse(`a message of more than ${bytesMax} bytes is dropped unread`);
      return;
    }
    const envelope = readEnvelope(text);
    if (envelope === null) {
      this.#refuse("a message of another program, or of another version, is dropped");
      return;
    }
    if (envelope.namespace !== this.#maker.namespace || envelope.from === this.#from) return;
    const place = this.#publishers.place(envelope, text.length);
    if (place === "double") return;
    if (place !== "stale") {
      this.#outlets.deliver(receivedEvents(envelope.events, (reason) => this.#refuse(reason)));
    }
    // Without a connection, the gap is told when it is there: who is told of a gap may publish.
    const isTold = this.#isConnected || this.#endWait !== null;
    if (place !== "next" && isTold) this.#outlets.tellGap();
  }

  #refuse(reason: string): void {
    if (this.#told.has(reason) || this.#told.size >= REFUSALS_TOLD_MAX) return;
    this.#told.add(reason);
    this.#logger.debug(`escapement: on the event broker's channel at ${this.#maker.address}, ${reason}`);
  }

  #unsent(what: string, cause?: unknown): BrokerUnavailableError {
    this.#hasUnsent = true;
    const failure = cause === undefined ? this.#lastFailure : redacted(cause, this.#maker.secrets);
    return new BrokerUnavailableError(`the event broker ${what} (${this.#maker.address})`, {
      cause: failure ?? undefined,
    });
  }

  /** Lets the others know that they have missed events that could not be sent. */
  #tellUnsent(): void {
    if (!this.#hasUnsent || this.#link === null) return;
    this.#hasUnsent = false;
    this.#whileConnected(this.#link.send([this.#writer.writeNumber()])).catch(() => {
      this.#hasUnsent = true;
    });
  }

  /** A server that hangs gives no answer, even when the link is closed. */
  #whileConnected(sent: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      sent.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    });
  }

  #endSends(reason: unknown): void {
    for (const reject of this.#waiting) reject(reason);
  }
}

/** What a heartbeat asks, and whom it tells. */
interface HeartbeatOutlets {
  /** Asks the server for an answer. Rejects when there is none to expect. */
  ping(): Promise<unknown>;
  /** The server did not answer in time. */
  silent(reason: unknown): void;
}

/** Notices that a connection is dead although nobody ended it, as after a network failed or a router forgot it. */
export class LinkHeartbeat {
  readonly #outlets: HeartbeatOutlets;
  readonly #timers: TimerHost;
  #stopTimer = (): void => {};
  #round = 0;

  constructor(outlets: HeartbeatOutlets, timers: TimerHost) {
    this.#outlets = outlets;
    this.#timers = timers;
  }

  /** Begins to count anew: the next ping is `HEARTBEAT_MS` away. */
  start(): void {
    this.stop();
    this.#stopTimer = this.#timers.startTimer(() => this.#beat(), HEARTBEAT_MS);
  }

  stop(): void {
    this.#round++;
    this.#stopTimer();
  }

  #beat(): void {
    const round = this.#round;
    const fail = (reason: unknown): void => {
      if (round !== this.#round) return;
      this.start();
      this.#outlets.silent(reason);
    };
    const late = (): void => fail(new Error(`the server did not answer within ${PING_WAIT_MS} ms`));
    // After an event loop was blocked, the answer may be there, and not be read yet.
    this.#stopTimer = this.#timers.startTimer(() => this.#timers.nextTurn(late), PING_WAIT_MS);
    this.#outlets.ping().then(() => {
      if (round === this.#round) this.start();
    }, fail);
  }
}
