import type { EventRecord } from "../records/events.ts";

/** Stops a subscription. Calling it again does nothing. */
export type Unsubscribe = () => void;

/**
 * Carries events between the schedulers of one store, so that they wake when another scheduler adds work. Delivery is
 * best effort: a lost event costs delay, never a run, because schedulers also look into the store by themselves.
 *
 * - Every event reaches every listener of the broker, those of the publisher's process included, exactly once while the
 *   broker is up.
 * - Events of one publisher arrive in the order in which they were published.
 * - A listener that throws disturbs nobody.
 */
export interface EventBroker extends AsyncDisposable {
  /** Connects. Idempotent. */
  open(): Promise<void>;
  /** Sends events. Resolves when they are handed over to the transport. */
  publish(events: readonly EventRecord[]): Promise<void>;
  subscribe(listener: (event: EventRecord) => void): Unsubscribe;
  /** Disconnects. Idempotent. */
  close(): Promise<void>;
}
