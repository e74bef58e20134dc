import type { EventBroker, Unsubscribe } from "../../brokers/event-broker.ts";
import type { Clock } from "../../core/clock.ts";
import { isThenable } from "../../core/logger.ts";
import type { OpenOptions } from "../../core/open-options.ts";
import type { ExecutorOpenOptions, JobCall, JobExecutor } from "../../executors/job-executor.ts";
import type { EventRecord } from "../../records/events.ts";
import type { CommitReport, CommitRequest, DataStore } from "../../stores/data-store.ts";
import type { Tally } from "./tally.ts";

/** Tells whether a store is open. */
export interface Openness {
  /** Whether somebody has opened the store, or tried to, and nobody has closed it since. */
  isOpen: boolean;
}

/**
 * A store whose calls are timed. It is a `Proxy`, so that what a store has besides the contract stays reachable, and
 * what it lacks (`prepareAddition`) stays absent.
 */
export function watchedStore(store: DataStore, tally: Tally, clock: Clock, openness: Openness): DataStore {
  const calls = new Map<PropertyKey, { readonly method: unknown; readonly call: Method }>();
  // Not the store is the target, because a proxy must show frozen methods as they are.
  return new Proxy(Object.create(Object.getPrototypeOf(store)) as DataStore, {
    has: (_, name) => Reflect.has(store, name),
    get(_, name) {
      // Of the store itself, because its private fields are not those of the proxy.
      const method: unknown = Reflect.get(store, name, store);
      if (typeof method !== "function" || name === "constructor") return method;
      const known = calls.get(name);
      if (known?.method === method) return known.call;
      const call = watchedCall(name, (...given) => Reflect.apply(method, store, given));
      calls.set(name, { method, call });
      return call;
    },
  });

  function watchedCall(name: string | symbol, method: Method): Method {
    // The question for the version comes 25 times a second, and is no request.
    if (typeof name !== "string" || name === "getDataVersion") return method;
    return (...given) => {
      if (name === "open" || name === "close") openness.isOpen = name === "open";
      const commit = name === "commit" ? (given[0] as CommitRequest) : null;
      if (commit !== null) tally.committing(commit);
      const begunAt = clock.now();
      const answer = method(...given);
      if (!isThenable(answer)) return answer;
      const ended = (): void => tally.requested(name, clock.now() - begunAt);
      answer.then(
        (report) => {
          ended();
          if (commit !== null) tally.committed(commit, report as CommitReport);
        },
        () => {
          ended();
          if (commit !== null) tally.commitFailed(commit);
        },
      );
      return answer;
    };
  }
}

type Method = (...given: unknown[]) => unknown;

/** A broker whose events are counted where they are published. */
export class WatchedBroker implements EventBroker {
  readonly #broker: EventBroker;
  readonly #tally: Tally;

  constructor(broker: EventBroker, tally: Tally) {
    this.#broker = broker;
    this.#tally = tally;
  }

  get isLocal(): boolean {
    return this.#broker.isLocal ?? false;
  }

  open(options?: OpenOptions): Promise<void> {
    return this.#broker.open(options);
  }

  publish(events: readonly EventRecord[]): Promise<void> {
    this.#tally.published(events);
    return this.#broker.publish(events);
  }

  subscribe(listener: (event: EventRecord) => void): Unsubscribe {
    return this.#broker.subscribe(listener);
  }

  onGap(listener: () => void): Unsubscribe {
    return this.#broker.onGap?.(listener) ?? (() => {});
  }

  close(): Promise<void> {
    return this.#broker.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** An executor whose attempts are counted and timed. */
export class WatchedExecutor implements JobExecutor {
  readonly #executor: JobExecutor;
  readonly #tally: Tally;
  readonly #clock: Clock;

  constructor(executor: JobExecutor, tally: Tally, clock: Clock) {
    this.#executor = executor;
    this.#tally = tally;
    this.#clock = clock;
  }

  get taskIds(): readonly string[] | undefined {
    return this.#executor.taskIds;
  }

  get capacity(): number | undefined {
    return this.#executor.capacity;
  }

  onCapacity(listener: () => void): () => void {
    return this.#executor.onCapacity?.(listener) ?? (() => {});
  }

  open(options?: ExecutorOpenOptions): Promise<void> {
    return this.#executor.open(options);
  }

  execute(call: JobCall): Promise<unknown> {
    const { job } = call;
    const begunAt = this.#clock.now();
    this.#tally.begins(job, begunAt);
    const ended = (): void => {
      const durationMs = this.#clock.now() - begunAt;
      this.#tally.ended(job, durationMs);
      // An attempt has its signal made when somebody reads it, which costs more than the rest. Within a millisecond no
      // lease is lost.
      if (durationMs > 0 && call.signal.aborted) this.#tally.aborted(job, call.signal.reason);
    };
    const work = this.#executor.execute(call);
    work.then(ended, ended);
    return work;
  }

  close(): Promise<void> {
    return this.#executor.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
