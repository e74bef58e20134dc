import type { Scheduler } from "../../mod.ts";
import { ID_LENGTH_MAX, SERIALIZED_LENGTH_MAX } from "../../records/limits.ts";
import { codeOf, messageOf } from "../failure.ts";
import {
  type Imported,
  type ImportedJob,
  type ImportedQueue,
  type ImportedSchedule,
  type ImportProblem,
  type ImportSettings,
  UniqueIds,
} from "./imported.ts";
import { isObject, type YamlObject } from "./yaml.ts";

/** As many as a person can look through. Of what else stays behind, a count is told. */
const LEFT_MAX = 1000;
const TRIED_AT_ONCE = 1000;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Why one item is not taken over. */
export class StaysBehind extends Error {}

/** What is found in another system, item by item: one that cannot be read stays behind, and the others go on. */
export class Findings {
  readonly settings: ImportSettings;
  readonly #schedules: ImportedSchedule[] = [];
  readonly #jobs: ImportedJob[] = [];
  readonly #left: ImportProblem[] = [];
  readonly #notes = new Map<string, number>();
  readonly #pausedTaskIds = new Set<string>();
  readonly #ids = new UniqueIds();
  readonly #jobIds = new Set<string>();
  #leftCount = 0;

  constructor(settings: ImportSettings) {
    this.settings = settings;
  }

  /** Reads one item. */
  item(where: string, value: unknown, read: (value: YamlObject) => void): void {
    try {
      if (!isObject(value)) throw new StaysBehind("is no object");
      read(value);
    } catch (error) {
      // What is in itself ten thousand times takes more of the stack than there is.
      const isDeep = error instanceof RangeError && codeOf(error) === null;
      // Errors of options, which a trigger throws, have codes. Any other one is a mistake of this program.
      if (!(error instanceof StaysBehind) && codeOf(error) === null && !isDeep) throw error;
      this.left(where, isDeep ? "is nested too deeply" : messageOf(error));
    }
  }

  schedule({ id, ...schedule }: ImportedSchedule): void {
    this.#schedules.push({ ...schedule, id: this.#ids.of(checkedId(id)), taskId: this.#taskIdOf(schedule.taskId) });
  }

  job(job: ImportedJob): void {
    const id = checkedId(job.settings.idempotencyKey);
    if (this.#jobIds.has(id)) throw new StaysBehind("another job has the same id");
    this.#jobIds.add(id);
    this.#jobs.push({ ...job, taskId: this.#taskIdOf(job.taskId) });
  }

  pausedTask(taskId: string): void {
    this.#pausedTaskIds.add(this.#taskIdOf(taskId));
  }

  left(where: string, message: string): void {
    if (++this.#leftCount <= LEFT_MAX) this.#left.push({ where, message });
  }

  note(text: string): void {
    this.#notes.set(text, (this.#notes.get(text) ?? 0) + 1);
  }

  /** The zone of a rule that names none. */
  zoneOf(given: string | null): string {
    if (given !== null) return given;
    this.note(`no time zone: read in ${this.settings.timeZone}, which --tz changes`);
    return this.settings.timeZone;
  }

  /** What was found in a file of a system that has schedules alone. */
  async importedFile(): Promise<Imported> {
    const { schedules, queue } = await this.imported();
    return { schedules, problems: queue.left };
  }

  /** What a store takes of it, by an addition to one in memory. What it refuses stays behind, as does what cannot be
   *  read: otherwise an import would end in the middle of it. */
  async imported(): Promise<Imported & { readonly queue: ImportedQueue }> {
    const { Scheduler } = await import("../../mod.ts");
    const { clock } = this.settings;
    const trial: Scheduler = new Scheduler({ logger: SILENT, cleanupInterval: null, clock });
    const declared = new Set<string>();
    const declare = (taskId: string): void => {
      if (declared.has(taskId)) return;
      trial.task(taskId, () => {});
      declared.add(taskId);
    };
    const addJobs = async (jobs: readonly ImportedJob[]): Promise<void> => {
      for (const { taskId } of jobs) declare(taskId);
      await trial.addJobs(jobs.map(({ taskId, settings }) => ({ task: taskId, ...settings })));
    };
    const schedules = await this.#taken(this.#schedules, async ({ id, taskId, trigger, settings }) => {
      declare(taskId);
      await trial.addSchedule(taskId, trigger, { id, ...settings });
    });
    const jobs: ImportedJob[] = [];
    for (let from = 0; from < this.#jobs.length; from += TRIED_AT_ONCE) {
      const part = this.#jobs.slice(from, from + TRIED_AT_ONCE);
      const isTaken = await addJobs(part).then(
        () => true,
        () => false,
      );
      jobs.push(...(isTaken ? part : await this.#taken(part, (job) => addJobs([job]))));
    }
    const paused = [...this.#pausedTaskIds].map((taskId) => ({ where: `queue ${taskId}`, taskId }));
    const pausedTasks = await this.#taken(paused, async ({ taskId }) => declare(taskId));
    await trial.stop();
    const more = this.#leftCount - this.#left.length;
    const left = more === 0 ? this.#left : [...this.#left, { where: "and more", message: `${more} others` }];
    const notes = [...this.#notes].map(([text, count]) => (count === 1 ? text : `${text} (${count} times)`));
    const pausedTaskIds = pausedTasks.map(({ taskId }) => taskId);
    return { schedules, problems: [], queue: { jobs, pausedTaskIds, left, notes } };
  }

  async #taken<T extends { readonly where: string }>(
    items: readonly T[],
    add: (item: T) => Promise<void>,
  ): Promise<T[]> {
    const taken: T[] = [];
    for (const item of items) {
      try {
        await add(item);
        taken.push(item);
      } catch (error) {
        if (codeOf(error) === null) throw error;
        this.left(item.where, messageOf(error));
      }
    }
    return taken;
  }

  #taskIdOf(taskId: string): string {
    return checkedId(this.settings.taskId ?? taskId);
  }
}

function checkedId(id: string): string {
  if (id !== "" && id.length <= ID_LENGTH_MAX) return id;
  throw new StaysBehind(`its id has ${id.length} characters: 1 to ${ID_LENGTH_MAX} can be stored`);
}

/** The items of a list; an absent one is empty. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** A text that an item must have. @throws {StaysBehind} */
export function neededText(item: YamlObject, name: string): string {
  const value = item[name];
  if (typeof value === "string" && value !== "") return value;
  throw new StaysBehind(`${name} must be text`);
}

/** A number of an item; null for none. @throws {StaysBehind} for what is no number of 0 or more */
export function amountOf(item: YamlObject, name: string): number | null {
  const value = item[name];
  if (value === undefined || value === null || value === "") return null;
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number === "number" && number >= 0 && number <= Number.MAX_SAFE_INTEGER) return number;
  throw new StaysBehind(`${name} must be a number`);
}

/** A whole number of an item, of 0 unless it is there. @throws {StaysBehind} */
export function wholeOf(item: YamlObject, name: string): number {
  const value = item[name] ?? 0;
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (Number.isSafeInteger(number)) return number as number;
  throw new StaysBehind(`${name} must be a whole number`);
}

/** An instant of an item, as epoch milliseconds, ISO 8601 or MongoDB writes it; null for none. @throws {StaysBehind} */
export function instantOf(item: YamlObject, name: string): number | null {
  const given = item[name];
  const value = isObject(given) && "$date" in given ? given.$date : given;
  const number = isObject(value) && "$numberLong" in value ? Number(value.$numberLong) : value;
  if (number === undefined || number === null || number === "") return null;
  const isDigits = typeof number === "string" && /^-?\d+$/.test(number);
  const ms = typeof number === "string" && !isDigits ? Date.parse(number) : Number(number);
  if (Number.isSafeInteger(ms) && Math.abs(ms) <= 8.64e15) return ms;
  throw new StaysBehind(`${name} must be an instant`);
}

/** An instant as text. @throws {StaysBehind} for a sum that no instant has */
export function isoOfMs(ms: number): string {
  if (!(Math.abs(ms) <= 8.64e15)) throw new StaysBehind("it has an instant that cannot be");
  return new Date(ms).toISOString();
}

/** A payload as a setting; none for undefined. @throws {StaysBehind} for one that no store takes */
export function payloadOf(value: unknown): { readonly payload?: unknown } {
  if (value === undefined) return {};
  let length: number;
  try {
    length = JSON.stringify(value).length;
  } catch {
    throw new StaysBehind("its payload is nested too deeply");
  }
  if (length > SERIALIZED_LENGTH_MAX) {
    throw new StaysBehind(`its payload has ${length} characters: ${SERIALIZED_LENGTH_MAX} can be stored`);
  }
  return { payload: value };
}

/** When a job is to run, as a setting; none for one that is due. */
export function runAtOf(ms: number | null, nowMs: number): { readonly runAt?: string } {
  return ms === null || ms <= nowMs ? {} : { runAt: isoOfMs(ms) };
}
