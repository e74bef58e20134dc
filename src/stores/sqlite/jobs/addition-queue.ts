import { StoreRefusedError, StoreUnavailableError } from "../../../core/errors.ts";
import { endsWorkWithRequests } from "../../../core/host.ts";
import type { NewJobRecord } from "../../../records/job.ts";
import type { JobAddition } from "../../data-store.ts";
import { COALESCED_JOBS_MAX, COALESCED_LENGTH_MAX } from "../bounds.ts";

interface WaitingCall {
  readonly jobs: readonly NewJobRecord[];
  readonly resolve: (additions: JobAddition[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers the calls that come while an insert is in flight. The next insert takes them all, in one commit and one
 *  round trip. Where a request may end in the middle of an insert, only the calls of one turn are gathered, because
 *  these calls belong to one request. */
export class AdditionQueue {
  readonly #insert: (jobs: readonly NewJobRecord[]) => Promise<readonly JobAddition[]>;
  readonly #joins: boolean;
  readonly #waiting: WaitingCall[] = [];
  #isInserting = false;

  /** @param joins whether calls wait for an insert of others. Default: unless the runtime ends work with requests */
  constructor(
    insert: (jobs: readonly NewJobRecord[]) => Promise<readonly JobAddition[]>,
    joins: boolean = !endsWorkWithRequests(),
  ) {
    this.#insert = insert;
    this.#joins = joins;
  }

  add(jobs: readonly NewJobRecord[]): Promise<JobAddition[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ jobs, resolve, reject });
      if (this.#isInserting) return;
      this.#isInserting = true;
      // In a microtask, so that calls from the same turn are gathered already. The promise never rejects.
      queueMicrotask(() => void this.#insertWaiting());
    });
  }

  async #insertWaiting(): Promise<void> {
    if (!this.#joins) return this.#insertTurn();
    while (this.#waiting.length > 0) {
      await this.#insertCalls(this.#takeCalls());
      // Callers may add more jobs as soon as they get their answers. These additions join those that wait already.
      for (let turn = 0; turn < 4 && this.#waiting.length > 0; turn++) await null;
    }
    this.#isInserting = false;
  }

  /** Inserts the calls of one turn. Others do not wait for it. */
  async #insertTurn(): Promise<void> {
    const parts: WaitingCall[][] = [];
    while (this.#waiting.length > 0) parts.push(this.#takeCalls());
    this.#isInserting = false;
    for (const calls of parts) await this.#insertCalls(calls);
  }

  #takeCalls(): WaitingCall[] {
    let jobCount = 0;
    let length = 0;
    let callCount = 0;
    for (const { jobs } of this.#waiting) {
      jobCount += jobs.length;
      for (const { payload } of jobs) length += payload?.length ?? 0;
      if (callCount > 0 && (jobCount > COALESCED_JOBS_MAX || length > COALESCED_LENGTH_MAX)) break;
      callCount++;
    }
    return this.#waiting.splice(0, callCount);
  }

  async #insertCalls(calls: readonly WaitingCall[]): Promise<void> {
    try {
      const additions = await this.#insert(calls.flatMap(({ jobs }) => jobs));
      let start = 0;
      for (const { jobs, resolve } of calls) {
        resolve(additions.slice(start, start + jobs.length));
        start += jobs.length;
      }
    } catch (error) {
      // One bad call must not fail the others, so each call is tried by itself.
      if (calls.length > 1 && error instanceof StoreRefusedError) {
        for (const call of calls) await this.#insertCalls([call]);
        return;
      }
      for (const { reject } of calls) reject(error);
      // In an outage the calls that wait would fail one after the other, each after the same time.
      if (this.#joins && error instanceof StoreUnavailableError)
        for (const { reject } of this.#waiting.splice(0)) reject(error);
    }
  }
}
