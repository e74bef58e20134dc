import type { EventRecord } from "../../src/records/events.ts";
import type { CommitReport, CommitRequest, JobAddition, PlanReport } from "../../src/stores/data-store.ts";
import type { Caller, History } from "./history.ts";
import type { JobModel } from "./job-model.ts";

/** What processes tell others, compared with what the store told them. Others may never hear it. */
export class Announcements {
  readonly #history: History;
  readonly #jobs: JobModel;
  /** Jobs whose addition a process knows of and has not announced yet. */
  readonly #owed = new Map<string, Caller>();

  /** Jobs that were gone when an outcome was sent again: by that outcome, or because somebody else had ended them. */
  readonly #gone = new Set<string>();
  /** How many fire times a process knows to be skipped and has not told of yet. */
  readonly #skips = new Map<Caller, number>();

  constructor(history: History, jobs: JobModel) {
    this.#history = history;
    this.#jobs = jobs;
  }

  /** An answer told a process what its commit did. */
  onStep(caller: Caller, request: CommitRequest, report: CommitReport): void {
    this.onAdded(caller, report.additions, report.plans);
    report.plans.forEach(({ overlap }, index) => {
      if (overlap === undefined) return;
      const { isSkipped, replaced } = overlap;
      const { overlap: asked, fires = [] } = request.plans[index] ?? {};
      const missed = asked?.policy === "earliest" ? (fires[0]?.missedCount ?? 0) : 0;
      this.#skipped(caller, (asked?.passed ?? 0) + replaced.length + (isSkipped ? 1 + missed : 0));
    });
    if (!request.isRepetition) return;
    for (const { jobId } of request.releases) if (!this.#jobs.unfinished.has(jobId)) this.#gone.add(jobId);
  }

  /** An answer told a process that it added jobs. */
  onAdded(caller: Caller, additions: readonly JobAddition[], plans: readonly PlanReport[]): void {
    for (const { job, isNew } of additions) if (isNew) this.#owed.set(job.id, caller);
    for (const { addedJobIds } of plans) for (const id of addedJobIds) this.#owed.set(id, caller);
  }

  onPublish(caller: Caller, events: readonly EventRecord[]): void {
    for (const event of events) {
      if (event.type === "jobAdded") this.#onJobAdded(caller, event);
      else if (event.type === "jobReleased") this.#onJobReleased(caller, event);
      else if (event.type === "jobBlocked" || event.type === "jobAdmitted") this.#onBlocked(caller, event);
      else if (event.type === "occurrenceSkipped" && /^(overlap|replaced|coalesced)$/.test(event.reason)) {
        this.#skipped(caller, -event.count);
      }
    }
  }

  checkAtRest(): void {
    for (const [id, caller] of this.#owed) {
      if (caller.isAlive) this.#history.violate(`${caller.name} never announced job ${id}, which it added`);
    }
    for (const [caller, count] of this.#skips) {
      if (caller.isAlive && count > 0) this.#history.violate(`${caller.name} never told of ${count} skips`);
    }
  }

  #skipped(caller: Caller, count: number): void {
    const left = (this.#skips.get(caller) ?? 0) + count;
    this.#skips.set(caller, left);
    if (left < 0) this.#history.violate(`${caller.name} tells of fire times that were not skipped`);
  }

  /** Others sleep on when they hear that a job is leased. */
  #onJobAdded(caller: Caller, { jobId, isLeased }: EventRecord<"jobAdded">): void {
    this.#owed.delete(jobId);
    const job = this.#jobs.get(jobId);
    if (job === undefined) this.#history.violate(`${caller.name} announces job ${jobId}, which was never added`);
    else if (isLeased && job.record.fence === 0) {
      this.#history.violate(`${caller.name} announces job ${jobId} as leased, which it never was`);
    }
  }

  /** A job is blocked by a limit of its key, or by its parents. */
  #onBlocked(caller: Caller, { type, jobId }: EventRecord<"jobBlocked" | "jobAdmitted">): void {
    const job = this.#jobs.get(jobId);
    this.#history.count(`events ${type}`);
    if (job !== undefined && this.#jobs.mayBeBlocked(job)) return;
    this.#history.violate(`${caller.name} announces ${type} of job ${jobId}, which nothing holds`);
  }

  #onJobReleased(caller: Caller, { jobId, outcome }: EventRecord<"jobReleased">): void {
    const ended = this.#jobs.get(jobId)?.outcome ?? null;
    if (ended === outcome || this.#gone.has(jobId)) return;
    this.#history.violate(`${caller.name} announces that job ${jobId} ended as ${outcome}, not ${ended}`);
  }
}
