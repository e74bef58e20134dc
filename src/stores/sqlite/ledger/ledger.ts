import type { JobRecord } from "../../../records/job.ts";
import type { LifeRecord, ScheduleChangeRecord, TaskPauseRecord } from "../../../records/ledger.ts";
import type { ChangeRecordFilter, Ledger, LedgerLimits, OccurrenceRecordFilter } from "../../ledger.ts";
import type { SqliteChanges } from "./changes.ts";
import type { SqliteOccurrences } from "./occurrences.ts";

/** What the ledger of a store that is open consists of. */
export interface OpenLedger {
  readonly occurrences: SqliteOccurrences;
  readonly changes: SqliteChanges;
}

/** Calls a function once the store is open and its schema up to date. */
type UseLedger = <T>(call: (open: OpenLedger) => Promise<T>) => Promise<T>;

/** What a `SqlDataStore` remembers. The store itself writes it, in the commits that it makes anyway. */
export class SqliteLedger implements Ledger {
  readonly limits: LedgerLimits;
  readonly #use: UseLedger;

  constructor(limits: LedgerLimits, use: UseLedger) {
    this.limits = Object.freeze({ ...limits });
    this.#use = use;
  }

  getLedgerStart(scheduleId: string): Promise<number | null> {
    return this.#use(({ occurrences }) => occurrences.getStart(scheduleId));
  }

  getOccurrences(filter: OccurrenceRecordFilter): ReturnType<Ledger["getOccurrences"]> {
    return this.#use(({ occurrences }) => occurrences.getPage(filter));
  }

  getJobOfFireTime(scheduleId: string, fireTime: number): Promise<JobRecord | null> {
    return this.#use(({ occurrences }) => occurrences.getJob(scheduleId, fireTime));
  }

  getScheduleChanges(filter: ChangeRecordFilter & { readonly scheduleId: string }): Promise<ScheduleChangeRecord[]> {
    return this.#use(({ changes }) => changes.getScheduleChanges(filter));
  }

  getTaskPauseHistory(filter: ChangeRecordFilter & { readonly taskId: string }): Promise<TaskPauseRecord[]> {
    return this.#use(({ changes }) => changes.getTaskPauseHistory(filter));
  }

  getLives(filter: { readonly from: number; readonly until: number }): Promise<LifeRecord[]> {
    return this.#use(({ changes }) => changes.getLives(filter));
  }
}
