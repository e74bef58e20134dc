import { IdGenerator } from "../../core/ids.ts";
import { type JobRecord, NEVER_RUN } from "../../records/job.ts";
import {
  NOTICE_STARTS_WITHIN_MS,
  NOTICE_TASK_PREFIX,
  type NoticeRecord,
  type NoticeTaskFacts,
} from "../../records/notice.ts";
import type { Flow } from "./flow-control.ts";
import type { Queues } from "./queues-and-acquisition.ts";
import type { Jobs } from "./unfinished-jobs.ts";

/** Adds notices of changes of state, as jobs of the tasks of notices. */
export class Notices {
  readonly #parts: { readonly jobs: Jobs; readonly flow: Flow; readonly queues: Queues };
  readonly #ids = new IdGenerator();
  readonly #taskIds = new Set<string>();

  constructor(parts: { readonly jobs: Jobs; readonly flow: Flow; readonly queues: Queues }) {
    this.#parts = parts;
  }

  /** A task was put. */
  taskPut(id: string): void {
    if (id.startsWith(NOTICE_TASK_PREFIX)) this.#taskIds.add(id);
  }

  /** Adds a job for each channel that asks for the notice. */
  add(notice: NoticeRecord & { readonly scheduleId: string | null }): void {
    const { jobs, flow, queues } = this.#parts;
    for (const id of this.#taskIds) {
      const task = jobs.taskRecord(id);
      const { on = [], schedules } = (task?.metadata ?? {}) as Partial<NoticeTaskFacts>;
      if (task === undefined || !on.includes(notice.type)) continue;
      if (schedules?.includes(notice.scheduleId ?? "") === false) continue;
      const { executor, resultExpirationMs, maxRecoveries } = task;
      const record: JobRecord = {
        ...{ id: this.#ids.next(notice.at), taskId: id, scheduleId: null, executor, payload: null, priority: 0 },
        ...{ runAt: notice.at, createdAt: notice.at, fireTime: null, scheduledFireTime: null },
        ...{ startDeadline: notice.at + NOTICE_STARTS_WITHIN_MS, missedCount: null, firstMissedTime: null },
        ...{ lastMissedTime: null, resultExpirationMs, maxRecoveries, metadata: Object.freeze(notice) },
        ...{ idempotencyKey: null, ...NEVER_RUN },
      };
      const entry = jobs.insert(record);
      flow.join(entry);
      queues.add(entry, true);
    }
  }
}
