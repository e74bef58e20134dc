import { LeaseLostError } from "../../core/errors.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobRecord } from "../../records/job.ts";
import type { CommitReport, CommitRequest, PlannedJob } from "../../stores/data-store.ts";
import { label } from "./families.ts";
import { Instruments } from "./instruments.ts";
import { TaskLabels } from "./task-labels.ts";

/** Counts what this process does. What is shared, such as the events that a broker brings, is never counted: then each
 *  process would count what all of them did. */
export class Tally {
  readonly labels: TaskLabels = new TaskLabels();
  readonly instruments: Instruments = new Instruments();
  /** The fires of plans, by the id of their job, until the job's addition is published. */
  readonly #fires = new Map<string, PlannedJob>();
  /** The tasks of the attempts that began and whose outcome the store may not have, by the id of the job. */
  readonly #begun = new Map<string, string>();

  /** Events that this process made. */
  published(events: readonly EventRecord[]): void {
    for (const event of events) this.#count(event);
  }

  #count(event: EventRecord): void {
    const { occurrencesSkipped, jobsFinished, attemptsFailed, jobsRecovered } = this.instruments;
    switch (event.type) {
      case "jobAdded":
        this.#added(event);
        break;
      case "occurrenceSkipped":
        occurrencesSkipped.add(this.labels.with(event.taskId, "reason", event.reason), event.count);
        break;
      case "occurrenceOverdue":
        this.instruments.occurrenceAlarms.add(this.labels.with(event.taskId, "kind", event.kind));
        break;
      case "jobRetried":
        (event.error === null ? jobsRecovered : attemptsFailed).add(this.labels.of(event.taskId));
        break;
      case "stepFinished":
        this.instruments.stepsFinished.add(this.labels.of(event.taskId));
        break;
      case "jobSleeps":
        this.instruments.jobsSlept.add(this.labels.of(event.taskId));
        break;
      case "jobReleased": {
        const { taskId, outcome } = event;
        jobsFinished.add(this.labels.with(taskId, "outcome", outcome));
        if (outcome === "error" || outcome === "deserializationFailed") attemptsFailed.add(this.labels.of(taskId));
        break;
      }
      default:
    }
  }

  #added({ jobId, taskId, timestampMs }: EventRecord<"jobAdded">): void {
    const fire = this.#fires.size === 0 ? undefined : this.#fires.get(jobId);
    if (fire === undefined) return;
    this.#fires.delete(jobId);
    const task = this.labels.of(taskId);
    const { fires, fireDelay, occurrencesSkipped } = this.instruments;
    fires.add(task);
    fireDelay.observe(task, timestampMs - fire.scheduledFireTime);
    const { missedCount } = fire;
    if (missedCount !== null && missedCount > 0) {
      occurrencesSkipped.add(this.labels.with(taskId, "reason", "coalesced"), missedCount);
    }
  }

  /** An attempt begins. */
  begins(job: JobRecord, now: number): void {
    const { taskId, runAt, scheduledFireTime, failedAttempts, recoveries, retryOf } = job;
    this.#begun.set(job.id, taskId);
    const task = this.labels.of(taskId);
    const { queueWait, startLateness } = this.instruments;
    queueWait.observe(task, now - runAt);
    const isFirst = failedAttempts === 0 && recoveries === 0 && retryOf === undefined;
    if (scheduledFireTime !== null && isFirst) startLateness.observe(task, now - scheduledFireTime);
  }

  /** An attempt has ended. */
  ended({ taskId }: JobRecord, durationMs: number): void {
    this.instruments.jobDuration.observe(this.labels.of(taskId), durationMs);
  }

  /** An attempt was to end early, and has ended. */
  aborted({ id, taskId }: JobRecord, reason: unknown): void {
    if (!(reason instanceof LeaseLostError)) return;
    this.#begun.delete(id);
    this.instruments.leasesLost.add(this.labels.of(taskId));
  }

  /** A commit is sent to the store. */
  committing({ plans }: CommitRequest): void {
    for (const { fires } of plans) for (const fire of fires) this.#fires.set(fire.jobId, fire);
  }

  /** The store has taken a commit. */
  committed({ plans, releases }: CommitRequest, report: CommitReport): void {
    for (const [index, { fires }] of plans.entries()) {
      const added = report.plans[index]?.addedJobIds ?? [];
      if (added.length === fires.length) continue;
      const addedIds = new Set(added);
      for (const { jobId } of fires) if (!addedIds.has(jobId)) this.#fires.delete(jobId);
    }
    for (const [index, { jobId, kind }] of releases.entries()) {
      if (kind === "start") continue;
      const taskId = this.#begun.get(jobId);
      this.#begun.delete(jobId);
      const isLost = report.releases[index] === "fenced" && taskId !== undefined;
      if (isLost) this.instruments.leasesLost.add(this.labels.of(taskId));
    }
  }

  /** The store has not taken a commit, as far as is known. */
  commitFailed({ plans }: CommitRequest): void {
    for (const { fires } of plans) for (const { jobId } of fires) this.#fires.delete(jobId);
  }

  /** The store has answered a call, or failed to. */
  requested(operation: string, durationMs: number): void {
    this.instruments.storeRequest.observe(label("operation", operation), durationMs);
  }
}
