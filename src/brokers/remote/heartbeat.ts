import type { TimerHost } from "../../core/timer-host.ts";
import { HEARTBEAT_MS, PING_WAIT_MS } from "./limits.ts";

/** What a heartbeat asks, and whom it tells. */
export interface HeartbeatOutlets {
  /** Asks the server for an answer. Rejects when there is none to expect. */
  ping(): Promise<unknown>;
  /** The server did not answer in time. */
  silent(reason: unknown): void;
}

/** Notices that a connection is dead although nobody ended it, as after a network failed or a router forgot it. */
export class Heartbeat {
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
