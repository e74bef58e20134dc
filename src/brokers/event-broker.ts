import type { OpenOptions } from "../core/open-options.ts";
import type { EventRecord } from "../records/events.ts";

/** Stops a subscription. Calling it again does nothing. */
export type Unsubscribe = () => void;

/**
 * Carries events between the schedulers of one store, so that a scheduler wakes when another one adds work. An event
 * may get lost. A lost event costs delay, never a run, because schedulers also look into the store by themselves.
 *
 * - While the broker is open and connected, every event reaches every listener exactly once. This includes the
 *   listeners in the publisher's own process.
 * - Events of one publisher arrive in the order in which they were published.
 * - A listener that throws disturbs nobody.
 */
export interface EventBroker extends AsyncDisposable {
  /** Whether events stay in this process. Absent is false. */
  readonly isLocal?: boolean;
  /** Connects. Idempotent. A server that cannot be reached is no failure: the broker goes on trying, and says so in the
   *  log. */
  open(options?: OpenOptions): Promise<void>;
  /** Sends events. Resolves when the transport has taken them, and rejects when it has not. */
  publish(events: readonly EventRecord[]): Promise<void>;
  /** Calls a listener for every event, until the returned function is called. */
  subscribe(listener: (event: EventRecord) => void): Unsubscribe;
  /** Calls a listener each time that events may have been missed, because the broker had lost its connection and has it
   *  again, until the returned function is called. Left out by brokers that cannot miss an event. */
  onGap?(listener: () => void): Unsubscribe;
  /** Disconnects: no listener is called any more. Idempotent. */
  close(): Promise<void>;
}
