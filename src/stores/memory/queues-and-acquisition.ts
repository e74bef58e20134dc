import type { JobRecord } from "../../records/job.ts";
import type { CommitRequest, JobCapacity, JobQueue, LeaseEnd, Seen, View } from "../data-store.ts";
import { freeSlots, inOrderOfAcquisition, type JobEntry, moveTo, type TaskEntry } from "./entries-of-jobs-and-tasks.ts";
import type { Flow } from "./flow-control.ts";
import { SortedList } from "./sorted-list.ts";
import type { StepsOfJobs } from "./steps-of-jobs.ts";
import type { Bursts } from "./throttle-and-debounce.ts";
import type { Jobs } from "./unfinished-jobs.ts";

/** The ready jobs of a task and an executor, as they take part in an acquisition. */
interface Candidate {
  readonly ready: SortedList<JobEntry>;
  readonly task: TaskEntry;
  readonly executor: string;
  /** The `runAt` of the first job, which counts for all of a fair task among the candidates; null for another task. */
  readonly age: number | null;
}

/** How many more jobs an acquisition may lease for each executor that is bounded. */
type Room = Map<string, number>;

const NOTHING_SEEN: Pick<Seen, "nextRunAt" | "nextMissAt" | "leaseEndsAt" | "hasReady"> = Object.freeze({
  nextRunAt: null,
  nextMissAt: null,
  leaseEndsAt: null,
  hasReady: false,
});

/**
 * Where the jobs of a memory store wait, and who leases them. Each job is in one list: of those that are delayed until
 * their `runAt`, of those that a key limiter blocks, of the *ready* ones of its task and executor, or of those under a
 * lease. So a commit reads no more jobs than it moves. A job that waits for its parents is in no list.
 */
export class Queues {
  readonly #delayed = new SortedList<JobEntry>((a, b) => a.record.runAt - b.record.runAt || a.seq - b.seq);
  readonly #leased = new SortedList<JobEntry>(inOrderOfLeases);
  readonly #jobs: Jobs;
  readonly #flow: Flow;
  readonly #bursts: Bursts;
  /** The greatest id of a commit of each scheduler. Ids of commits grow, so that a commit with a greater one is new. */
  readonly #lastCommitIds = new Map<string, string>();
  #leaseSeq = 0;

  constructor(jobs: Jobs, flow: Flow, bursts: Bursts) {
    this.#jobs = jobs;
    this.#flow = flow;
    this.#bursts = bursts;
  }

  /** Lets a job wait. @param isDue whether the job need not wait for its `runAt` */
  add(entry: JobEntry, isDue: boolean): void {
    if (!isDue) moveTo(this.#delayed, entry);
    else if (entry.limiter !== null) this.#flow.block(entry);
    else moveTo(readyOf(entry), entry);
  }

  /** Lets the jobs of a task join their limiters again, because the limits of the task changed. */
  rejoin(task: TaskEntry): void {
    for (const entry of this.#jobs.all()) {
      if (entry.task !== task) continue;
      const isDue = entry.list !== null && entry.list !== this.#leased && entry.list !== this.#delayed;
      this.#flow.leave(entry);
      this.#flow.join(entry);
      if (isDue) this.add(entry, true);
    }
  }

  // ---- leases

  /** The job whose lease ends first. */
  get firstToEnd(): JobEntry | undefined {
    return this.#leased.first;
  }

  /** The leased jobs whose leases are as wanted: a list, so that the leases may end meanwhile. */
  leasedWhere(isWanted: (entry: JobEntry) => boolean): JobEntry[] {
    return [...this.#leased.from()].filter(isWanted);
  }

  /** The jobs that are not due yet, the earliest `runAt` first, then in the order of addition. */
  get delayed(): SortedList<JobEntry> {
    return this.#delayed;
  }

  /** Moves the end of a lease. */
  endLeaseAt(entry: JobEntry, until: number): void {
    moveTo(null, entry);
    entry.record.acquiredUntil = until;
    moveTo(this.#leased, entry);
  }

  /** Moves the ends of the leases of a scheduler's instance whose clock differs. */
  moveLeaseEnds({ instanceId, until }: LeaseEnd, now: number): void {
    for (const entry of this.leasedWhere(({ commitId }) => commitId?.startsWith(instanceId) === true)) {
      if ((entry.record.acquiredUntil ?? 0) > now === until <= now) this.endLeaseAt(entry, until);
    }
  }

  /** Ends the lease on a job; does nothing for a job that is not leased. @param commitId the commit that puts it
   *  back */
  endLease(entry: JobEntry, commitId: string | null): void {
    if (entry.record.acquiredBy === null) return;
    moveTo(null, entry);
    entry.record.acquiredBy = null;
    entry.record.acquiredUntil = null;
    entry.commitId = commitId;
    entry.task.leasedCount--;
    this.#flow.leaseEnded(entry);
  }

  /** Puts a leased job back. @param isDue as in {@link Queues.add}: a job was due once, and a clock that is behind does
   *  not take that back */
  putBack(entry: JobEntry, commitId: string | null, isDue: boolean): void {
    this.endLease(entry, commitId);
    this.#jobs.setWaiting(entry, true);
    this.add(entry, isDue);
  }

  #lease(entry: JobEntry, { now, schedulerId, commitId, until }: CommitRequest): void {
    this.#bursts.over(entry.record.id);
    this.#jobs.setWaiting(entry, false);
    moveTo(null, entry);
    entry.record.acquiredBy = schedulerId;
    entry.record.acquiredUntil = until;
    entry.record.fence++;
    entry.commitId = commitId;
    entry.leaseSeq = this.#leaseSeq++;
    entry.task.leasedCount++;
    moveTo(this.#leased, entry);
    this.#flow.leased(entry, now);
  }

  // ---- acquisition

  /** Leases jobs to a scheduler. A commit begins with those that other tries of it leased. */
  acquire(commit: CommitRequest): JobRecord[] {
    const { now, jobs } = commit;
    if (jobs === null) return [];
    const acquired: JobRecord[] = this.#leasedBy(commit).map(({ record }) => ({ ...record }));
    // Leases nothing while a lease waits for recovery, because the lost job may have to come first.
    if ((this.#leased.first?.record.acquiredUntil ?? Number.POSITIVE_INFINITY) <= now) return acquired;
    this.#makeDue(now);
    this.#admit(now);
    const room = roomOf(jobs, acquired);
    const countMax = jobs.limit;
    // What is leased may let others be admitted, which may be leased too.
    let count: number;
    do {
      count = acquired.length;
      const candidates = this.#candidates(jobs.queues, room);
      for (let best = candidates.first; best !== undefined; best = candidates.first) {
        if (acquired.length >= countMax) break;
        candidates.delete(best);
        const { ready, task, executor } = best;
        const next = candidates.first;
        let entry = ready.first;
        // A job of another queue may have taken the last place of the task or of the executor.
        while (entry !== undefined && acquired.length < countMax && !isFull(room, executor) && freeSlots(task) > 0) {
          room?.set(executor, (room.get(executor) ?? Number.POSITIVE_INFINITY) - 1);
          this.#lease(entry, commit);
          acquired.push({ ...entry.record });
          entry = ready.first;
          if (entry === undefined || next === undefined || inOrderOfCandidates(best, next) < 0) continue;
          candidates.add(best);
          break;
        }
      }
    } while (this.#admit(now) > 0 && acquired.length > count);
    return acquired;
  }

  /** The jobs that a commit has leased and still holds, in the order of acquisition. */
  #leasedBy({ schedulerId, commitId }: CommitRequest): JobEntry[] {
    const last = this.#lastCommitIds.get(schedulerId);
    if (last === undefined || last < commitId) {
      this.#lastCommitIds.set(schedulerId, commitId);
      return [];
    }
    const leased = this.leasedWhere((entry) => entry.commitId === commitId && entry.record.acquiredBy === schedulerId);
    return leased.sort((a, b) => a.leaseSeq - b.leaseSeq);
  }

  /** What a look tells of jobs. @param acquired what the commit that looks has leased */
  see({ now, jobs }: View, acquired: readonly JobRecord[] = []): typeof NOTHING_SEEN {
    if (jobs === null) return NOTHING_SEEN;
    this.#makeDue(now);
    const deadline = this.#jobs.nextToStart?.record.startDeadline ?? null;
    const room = roomOf(jobs, acquired);
    const { admitsAt } = this.#flow;
    return {
      nextRunAt: this.#nextRunAt(now),
      nextMissAt: deadline === null ? null : deadline + 1,
      leaseEndsAt: this.#leased.first?.record.acquiredUntil ?? null,
      hasReady: admitsAt <= now || jobs.queues.some((queue) => this.#readyIn(queue, room) !== null),
    };
  }

  /** When the next job that is not ready yet is due, or can be admitted. */
  #nextRunAt(now: number): number | null {
    const runAt = this.#delayed.first?.record.runAt ?? Number.POSITIVE_INFINITY;
    const { admitsAt } = this.#flow;
    const next = admitsAt > now && admitsAt < runAt ? admitsAt : runAt;
    return next === Number.POSITIVE_INFINITY ? null : next;
  }

  /** Puts off the jobs that were put off after an instant as long from it. */
  takeBack(after: number, steps: StepsOfJobs): void {
    for (const entry of [...this.#delayed.from(({ record }) => record.runAt > after)]) {
      const { id, createdAt, runAt, attemptHistory } = entry.record;
      const putOffAt = Math.max(createdAt, attemptHistory?.at(-1)?.finishedAt ?? 0, steps.takeBack(id, after));
      if (putOffAt <= after || runAt < putOffAt) continue;
      moveTo(null, entry);
      entry.record.runAt = after + runAt - putOffAt;
      moveTo(this.#delayed, entry);
    }
  }

  /** Lets the delayed jobs whose `runAt` has come become due. */
  #makeDue(now: number): void {
    this.#flow.followClock(now, this.#jobs.tasks.values());
    for (let entry = this.#delayed.first; entry !== undefined; entry = this.#delayed.first) {
      if (entry.record.runAt > now) return;
      this.add(entry, true);
    }
  }

  /** Makes the jobs ready that their limiters admit. Returns how many. */
  #admit(now: number): number {
    let count = 0;
    for (let entry = this.#flow.admitNext(now); entry !== null; entry = this.#flow.admitNext(now)) {
      moveTo(readyOf(entry), entry);
      count++;
    }
    return count;
  }

  #candidates(queues: readonly JobQueue[], room: Room | null): SortedList<Candidate> {
    const candidates = new SortedList<Candidate>(inOrderOfCandidates);
    const seen = new Set<SortedList<JobEntry>>();
    for (const queue of queues) {
      const candidate = this.#readyIn(queue, room);
      if (candidate === null || seen.has(candidate.ready)) continue;
      seen.add(candidate.ready);
      candidates.add(candidate);
    }
    return candidates;
  }

  /** Null for a queue of which no job can be leased now. */
  #readyIn({ executor, taskId }: JobQueue, room: Room | null): Candidate | null {
    const task = this.#jobs.tasks.get(taskId);
    const ready = task?.ready.get(executor);
    const first = ready?.first;
    if (task === undefined || ready === undefined || first === undefined) return null;
    if (isFull(room, executor) || freeSlots(task) <= 0) return null;
    return { ready, task, executor, age: first.virtualTime === null ? null : first.record.runAt };
  }
}

function readyOf({ task, record: { executor } }: JobEntry): SortedList<JobEntry> {
  let ready = task.ready.get(executor);
  if (ready === undefined) {
    ready = new SortedList(inOrderOfAcquisition);
    task.ready.set(executor, ready);
  }
  return ready;
}

/** Null where no executor is bounded. @param acquired what the commit has leased */
function roomOf({ bounds }: JobCapacity, acquired: readonly JobRecord[]): Room | null {
  if (bounds === undefined) return null;
  const room: Room = new Map(bounds);
  for (const { executor } of acquired) {
    const left = room.get(executor);
    if (left !== undefined) room.set(executor, left - 1);
  }
  return room;
}

function isFull(room: Room | null, executor: string): boolean {
  return room !== null && (room.get(executor) ?? 1) <= 0;
}

function inOrderOfLeases(a: JobEntry, b: JobEntry): number {
  return (a.record.acquiredUntil ?? 0) - (b.record.acquiredUntil ?? 0) || a.leaseSeq - b.leaseSeq;
}

/** Priority (higher first), age or `runAt`, then the order of the jobs. */
function inOrderOfCandidates(one: Candidate, other: Candidate): number {
  const [a, b] = [one.ready.first, other.ready.first];
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  return (
    b.record.priority - a.record.priority ||
    (one.age ?? a.record.runAt) - (other.age ?? b.record.runAt) ||
    inOrderOfAcquisition(a, b)
  );
}
