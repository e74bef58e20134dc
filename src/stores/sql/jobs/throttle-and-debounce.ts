import type { NewJobRecord } from "../../../records/job.ts";
import type { JobAddition } from "../../data-store.ts";
import { addedJob } from "../../shared/added-and-ended-jobs.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { jsonRecords, rowParameters } from "../sql-and-json.ts";
import { newJobRow } from "./insertion-statements.ts";
import { type JobRow, toJob } from "./job-rows.ts";

type Once = NewJobRecord & { readonly once: NonNullable<NewJobRecord["once"]> };
type Debounced = NewJobRecord & { readonly debounce: NonNullable<NewJobRecord["debounce"]> };

/** Jobs of one batch of which some are debounced, or added once in a time. */
export class WindowedAdditions {
  readonly #statements: WindowStatements;
  readonly #jobs: readonly NewJobRecord[];
  readonly #stampedAt: number | null;
  readonly #search: readonly SqlStatement[];

  /** @param stamp the present, where an answer can get lost; else null */
  constructor(statements: WindowStatements, jobs: readonly NewJobRecord[], stamp: { readonly now: number } | null) {
    this.#statements = statements;
    this.#jobs = jobs;
    this.#stampedAt = stamp?.now ?? null;
    const openers = jobs.flatMap((job, place) => (hasOnce(job) ? [[place, job.id, job.taskId, ...windowOf(job)]] : []));
    const bursts = jobs.flatMap((job, place) =>
      isDebounced(job) ? [[place, job.id, job.taskId, job.debounce.key]] : [],
    );
    this.#search = [
      ...rowParameters(openers).map(({ text }) => statement(statements.findOpeners, text)),
      ...rowParameters(bursts).map(({ text }) => statement(statements.findBursts, text)),
    ];
  }

  insertions(): SqlStatement[] {
    const { openWindows, markBursts, insertWindowedJobs, stampBursts } = this.#statements;
    const now = this.#stampedAt;
    const debounced = this.#jobs.filter(isDebounced);
    const createdAt = debounced[0]?.createdAt ?? 0;
    // After the first addition of a burst, the job is admitted no more.
    const dirty = rowParameters(debounced.map((job) => [job.taskId, job.debounce.key]));
    const bursts = debounced.map((job) => [job.id, job.taskId, job.debounce.key]);
    const insertions = [
      ...dirty.map(({ text }) => statement(markBursts, text, createdAt)),
      ...rounds(this.#jobs).flatMap((jobs) => [
        ...rowParameters(jobs.filter(hasOnce).map(windowRow)).map(({ text }) => statement(openWindows, text)),
        ...rowParameters(jobs.map(windowedRow)).map(({ text }) => statement(insertWindowedJobs, text)),
      ]),
    ];
    if (now === null) return insertions;
    return [...insertions, ...rowParameters(bursts).map(({ text }) => statement(stampBursts, text, now))];
  }

  /** The statements whose answers {@link answers} reads. */
  search(): readonly SqlStatement[] {
    return this.#search;
  }

  get searchCount(): number {
    return this.#search.length;
  }

  /** @param others the answers as they would be without windows and bursts */
  answers(found: readonly Row[][], others: readonly JobAddition[]): JobAddition[] {
    const byPlace = new Map(found.flat().map((row) => [Number(row.place), row]));
    return others.map((other, place) => {
      const job = this.#jobs[place];
      const row = byPlace.get(place);
      if (job === undefined || row === undefined) return { ...other, job: addedJob(other.job) };
      const id = String(row.id);
      const isNew = id === job.id;
      const [record] = row.record === null ? [] : jsonRecords<JobRow>([row]);
      if (record !== undefined) return { job: toJob(record), isNew };
      return { job: { ...addedJob(job), id }, isNew, ...(isNew ? {} : { hasEnded: true }) };
    });
  }
}

export function isWindowed({ debounce, once }: NewJobRecord): boolean {
  return debounce !== undefined || once !== undefined;
}

function hasOnce(job: NewJobRecord): job is Once {
  return job.once !== undefined;
}

function isDebounced(job: NewJobRecord): job is Debounced {
  return job.debounce !== undefined;
}

/** Kind and key of a job's window, and the instant at which the window must last. */
function windowOf({ once, createdAt }: Once): [kind: string, key: string, createdAt: number] {
  return [once.kind, once.key, createdAt];
}

/** The columns of a window as `openWindows` reads them. */
function windowRow({ taskId, once, createdAt, id, idempotencyKey }: Once): (string | number | null)[] {
  return [taskId, once.kind, once.key, once.until, createdAt, id, idempotencyKey];
}

/** The columns of a job as `insertWindowedJobs` reads them. */
function windowedRow(job: NewJobRecord): (string | number | null)[] {
  const { debounce, once } = job;
  if (once !== undefined) return [...newJobRow(job), null, null, once.kind, once.key];
  return debounce === undefined ? newJobRow(job) : [...newJobRow(job), debounce.key, placeInBurst(job)];
}

/** Text that grows with every addition. In one millisecond, the ids tell the order. */
function placeInBurst({ createdAt, id }: NewJobRecord): string {
  return `${String(createdAt).padStart(16, "0")} ${id}`;
}

/**
 * The jobs in rounds, which are nearly always one. The windows of a round are opened before its jobs are added. So a
 * new round begins with a job whose window was opened in this round and would be over, and with one whose idempotency
 * key a job of this round may get.
 */
function rounds(jobs: readonly NewJobRecord[]): NewJobRecord[][] {
  const all: NewJobRecord[][] = [];
  let round: NewJobRecord[] | null = null;
  const untilByWindow = new Map<string, number>();
  const windowByKey = new Map<string, string>();
  for (const job of jobs) {
    const { taskId, once, createdAt, idempotencyKey } = job;
    const window = once === undefined ? "" : nameOf(taskId, once.kind, once.key);
    const key = idempotencyKey === null ? "" : nameOf(taskId, idempotencyKey);
    const isOver = createdAt >= (untilByWindow.get(window) ?? Number.POSITIVE_INFINITY);
    const hasOtherWindow = once !== undefined && (windowByKey.get(key) ?? window) !== window;
    if (round === null || isOver || hasOtherWindow) {
      round = [];
      all.push(round);
      untilByWindow.clear();
      windowByKey.clear();
    }
    round.push(job);
    if (once !== undefined) untilByWindow.set(window, Math.min(once.until, untilByWindow.get(window) ?? once.until));
    if (key !== "") windowByKey.set(key, (windowByKey.get(key) ?? window) === window ? window : "several");
  }
  return all;
}

/** No key has a NUL character. */
function nameOf(...parts: readonly string[]): string {
  return parts.join("\0");
}

/** The statements of debounce and of what is added once in a time. Jobs without either never need them. */
export interface WindowStatements {
  readonly openWindows: string;
  readonly markBursts: string;
  readonly insertWindowedJobs: string;
  readonly stampBursts: string;
  readonly findOpeners: string;
  readonly findBursts: string;
  readonly removeWindows: string;
}
