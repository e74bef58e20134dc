import { LOOK_AHEAD_MS } from "../../src/core/timer-limits.ts";
import type { CommitReport, CommitRequest, View } from "../../src/stores/data-store.ts";
import type { Caller, History } from "./history.ts";

/** How one process speaks to its store: what it may send, and what it has heard. These rules show in no answer. */
export class Protocol {
  readonly #history: History;
  readonly #caller: Caller;
  readonly #isTicker: boolean;
  /** Ids of jobs that were sent once: whoever added them was told what became of them, or that it is unknown. */
  readonly #sentAdditions = new Set<string>();
  #isUnderWay = false;
  #last: CommitRequest | null = null;
  /** Whether it is unknown what the last commit did. */
  #isPending = false;
  /** The last commit that the store refused, and whose parts are sent one by one. */
  #refusedCommitId: string | null = null;
  /** Whether a repetition of that commit was refused. What the tries before it did is still asked, part by part. */
  #isRepetitionRefused = false;
  #settledCommitId: string | null = null;
  #settledAtMs = Number.NEGATIVE_INFINITY;
  #settledBefore: string | null = null;

  constructor(history: History, caller: Caller, isTicker: boolean) {
    this.#history = history;
    this.#caller = caller;
    this.#isTicker = isTicker;
  }

  /** The last commit whose answer it has. An answer of this very instant may be on its last way. */
  get settledCommitId(): string | null {
    return this.#settledAtMs < this.#history.nowMs ? this.#settledCommitId : this.#settledBefore;
  }

  /** Nothing is asked for a time that has not come; only a resident scheduler looks a moment ahead. */
  onView({ now, schedules }: View): void {
    const { clock, setBackFrom } = this.#caller;
    if (now > Math.max(clock.now(), setBackFrom)) this.#violate(`asks as of ${now}, which has not come`);
    if (schedules === null) return;
    const aheadMs = schedules.dueBy - now;
    if (aheadMs > (this.#isTicker ? 0 : LOOK_AHEAD_MS)) this.#violate(`looks ${aheadMs} ms ahead`);
  }

  onSend(request: CommitRequest): void {
    this.onView(request);
    if (this.#isUnderWay) this.#violate("sends a commit while another is under way");
    this.#isUnderWay = true;
    this.#checkPlans(request);
    this.#checkStop(request);
    const last = this.#last;
    if (last !== null && this.#isPending) this.#checkRepetition(last, request);
    else if (request.isRepetition && !(this.#isRepetitionRefused && request.commitId === this.#refusedCommitId)) {
      this.#violate("repeats a commit that is settled");
    } else if (last !== null && request.commitId <= last.commitId && request.commitId !== this.#refusedCommitId) {
      this.#violate("sends a commit whose id does not grow");
    }
    for (const { id, retryOf } of request.additions) {
      // Everybody who repeats a job sends it under the same id.
      if (retryOf === undefined && this.#sentAdditions.has(id))
        this.#violate(`adds job ${id} again, whose fate its caller knows`);
    }
    this.#last = request;
    this.#isPending = true;
  }

  onAnswer(request: CommitRequest, report: CommitReport): void {
    this.#isUnderWay = false;
    this.#isPending = false;
    this.#sent(request);
    if (request.commitId !== this.#refusedCommitId) this.#settled(request.commitId);
    const { length } = report.acquired;
    if (request.jobs === null && length > 0) this.#violate(`acquired ${length} jobs that it did not ask for`);
  }

  #settled(commitId: string): void {
    const { nowMs } = this.#history;
    if (this.#settledAtMs < nowMs) this.#settledBefore = this.#settledCommitId;
    this.#settledAtMs = nowMs;
    this.#settledCommitId = commitId;
  }

  /** It will never know what the commit did, unless it asks again. */
  onFailure(request: CommitRequest): void {
    this.#isUnderWay = false;
    this.#sent(request);
  }

  /** Nothing of the commit happened. */
  onRefusal({ commitId, isRepetition }: CommitRequest): void {
    this.#history.count("refused commits");
    this.#isUnderWay = false;
    this.#isPending = false;
    this.#isRepetitionRefused = isRepetition || (this.#isRepetitionRefused && commitId === this.#refusedCommitId);
    this.#refusedCommitId = commitId;
  }

  #sent({ additions }: CommitRequest): void {
    for (const { id } of additions) this.#sentAdditions.add(id);
  }

  #checkPlans({ now, plans, commitId, isRepetition }: CommitRequest): void {
    // What is sent again was planned before; the clock may have been set back since.
    const isFirst = !isRepetition && commitId !== this.#refusedCommitId;
    const ids = new Set(plans.map(({ scheduleId }) => scheduleId));
    if (ids.size < plans.length) this.#violate("sends two plans of one schedule in a commit");
    for (const { scheduleId, expected, fires } of plans) {
      const isEarly = expected > now || fires.some(({ fireTime }) => fireTime > now);
      if (isEarly && isFirst) this.#violate(`plans schedule ${scheduleId} ahead of its time`);
    }
  }

  /** Whoever stops begins nothing new. A commit may have been on its way when the stop began. */
  #checkStop({ jobs, plans, isRepetition }: CommitRequest): void {
    const { stoppingSinceMs, lastTroubleMs } = this.#caller;
    if (stoppingSinceMs === null || stoppingSinceMs >= this.#history.nowMs || lastTroubleMs >= stoppingSinceMs) return;
    if (jobs !== null && jobs.limit > 0) this.#violate("asks for jobs while it stops");
    if (plans.length > 0 && !isRepetition) this.#violate("plans schedules while it stops");
  }

  /** What is unknown is asked again, as it was. */
  #checkRepetition(last: CommitRequest, request: CommitRequest): void {
    this.#history.count("repeated commits");
    if (request.commitId !== last.commitId || !request.isRepetition) {
      this.#violate(`goes on from commit ${last.commitId} without knowing what it did`);
      return;
    }
    if (textOf(request.plans) !== textOf(last.plans)) this.#violate("repeats a commit with other plans");
    if (textOf(request.releases) !== textOf(last.releases)) this.#violate("repeats a commit with other outcomes");
  }

  #violate(what: string): void {
    this.#history.violate(`${this.#caller.name} ${what}`);
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value);
}
