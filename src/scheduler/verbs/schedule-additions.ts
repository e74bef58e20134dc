import { ConflictingIdError, StoreUnavailableError } from "../../core/errors.ts";
import { afterTurn } from "../../core/joined-call.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { ScheduleAddition, ScheduleAdditionChange } from "../../stores/data-store.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import type { CheckedScheduleOptions } from "../options/checked-options.ts";
import { asksForNow, clockFault } from "../running/store-clock.ts";
import { assertKeyed, keyedPayload } from "../tasks/concurrency-key.ts";
import { declaredSchedule } from "./declared-schedule.ts";
import { SCHEDULES_PER_COMMIT_MAX } from "./limits.ts";
import { newScheduleRecord } from "./new-records.ts";
import type { VerbContext } from "./verb-context.ts";

/** A schedule that a call wants to add, after the checks of its options. */
export interface WantedSchedule {
  readonly taskId: string;
  readonly trigger: Trigger;
  readonly options: CheckedScheduleOptions;
  /** The call, in errors. */
  readonly where: string;
}

/** What became of it. */
export interface AddedSchedule {
  readonly asked: ScheduleRecord;
  readonly stored: ScheduleRecord;
  readonly change: ScheduleAdditionChange;
}

/** A call that waits. */
interface AdditionCall {
  readonly wanted: WantedSchedule;
  readonly resolve: (added: AddedSchedule) => void;
  readonly reject: (error: unknown) => void;
}

interface PreparedCall extends AdditionCall {
  /** The settings that it was made with. */
  readonly task: TaskRecord;
  readonly addition: ScheduleAddition;
  readonly by: string;
}

/** Adds schedules. Those of one turn travel together: one read finds those that are stored as they are declared, and
 *  the others share a commit. What is wrong with one of them rejects its call alone. */
export class ScheduleAdditions {
  readonly #context: VerbContext;
  #calls: AdditionCall[] = [];
  /** Whether a read may spare a write: until one finds nothing that is unchanged. Then the schedules are new. */
  #looksFirst = true;

  constructor(context: VerbContext) {
    this.#context = context;
  }

  add(wanted: WantedSchedule): Promise<AddedSchedule> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ wanted, resolve, reject });
      if (this.#calls.length === 1) afterTurn(() => void this.#addAll(this.#calls.splice(0)));
    });
  }

  /** A schedule as it would be added. */
  recordOf(wanted: WantedSchedule): Promise<ScheduleRecord> {
    return new Promise((resolve, reject) => {
      const prepared = this.#prepareAll([{ wanted, resolve: ({ asked }) => resolve(asked), reject }]);
      prepared.then(([call]) => call && resolve(call.addition.schedule)).catch(reject);
    });
  }

  async #addAll(calls: readonly AdditionCall[]): Promise<void> {
    const { opened, ready } = this.#context;
    try {
      await opened();
      const prepared = (await this.#prepareAll(calls)).filter((call) => call !== null);
      const changed = this.#looksFirst ? await this.#withoutUnchanged(prepared) : prepared;
      await ready();
      for (const batch of batchesOf(await this.#withStored(changed))) await this.#write(batch);
    } catch (error) {
      // Those that are done do not hear of it.
      for (const { reject } of calls) reject(error);
    }
  }

  /** Makes those anew whose tasks have other settings in the store than was known here. */
  async #withStored(calls: readonly PreparedCall[]): Promise<readonly PreparedCall[]> {
    const { tasks } = this.#context;
    const others = calls.filter(({ wanted, task }) => (tasks.get(wanted.taskId)?.record ?? task) !== task);
    if (others.length === 0) return calls;
    const made = (await this.#prepareAll(others)).filter((call) => call !== null);
    return [...calls.filter((call) => !others.includes(call)), ...made];
  }

  async #prepareAll(calls: readonly AdditionCall[]): Promise<(PreparedCall | null)[]> {
    const { env, tasks } = this.#context;
    const facts = await Promise.all(
      calls.map(async ({ wanted: { taskId, options, where }, reject }) => {
        try {
          const task = await tasks.settingsOf(taskId);
          const { payload, concurrencyKey } = options;
          assertKeyed({ tasks, logger: env.logger }, task, concurrencyKey, where);
          const parts = { serializer: env.store.serializer, tasks };
          return { task, payload: await keyedPayload(parts, taskId, payload, concurrencyKey) };
        } catch (error) {
          reject(error);
          return null;
        }
      }),
    );
    const now = env.clock.now();
    return calls.map((call, index) => {
      const { options, trigger } = call.wanted;
      const fact = facts[index] ?? null;
      if (fact === null) return null;
      try {
        const id = options.id ?? env.ids.next(now);
        const { conflictPolicy, paused, by = env.identity, requestHash } = options;
        const record = newScheduleRecord({ ...fact, id, trigger, now }, options);
        const declared = options.id === undefined ? record : declaredSchedule(record, paused, tasks.version);
        const schedule = requestHash === undefined ? declared : { ...declared, declaration: requestHash };
        return {
          ...call,
          task: fact.task,
          by,
          addition: { schedule, conflictPolicy, setsPaused: paused !== undefined },
        };
      } catch (error) {
        call.reject(error);
        return null;
      }
    });
  }

  /** Compares the declarations with what is stored, and the tasks too, in one read. Answers the calls whose schedules
   *  are unchanged, and returns the others. */
  async #withoutUnchanged(calls: readonly PreparedCall[]): Promise<readonly PreparedCall[]> {
    const { env, tasks } = this.#context;
    const counts = new Map<string, number>();
    for (const { addition } of calls) counts.set(addition.schedule.id, (counts.get(addition.schedule.id) ?? 0) + 1);
    const declared = calls
      .filter(({ addition: { schedule, conflictPolicy } }) => {
        const isDeclared = conflictPolicy === "update" && schedule.declaration !== undefined;
        // The limiter of a key is made where it is missing.
        return isDeclared && schedule.concurrencyKey === undefined && counts.get(schedule.id) === 1;
      })
      .map(({ addition }) => addition.schedule);
    if (declared.length === 0) return calls;
    const nothing = { schedulerId: env.identity, jobs: null, schedules: null };
    const { unsaved } = tasks;
    const now = env.clock.now();
    const report = await env.store.look({ ...nothing, ...asksForNow(env), now, tasks: unsaved, declared });
    if (unsaved !== null) tasks.compared(unsaved, report.staleTaskIds);
    const stored = new Map(report.unchanged?.map((schedule) => [schedule.id, schedule]));
    // A next fire time would be computed from the present.
    const fault = stored.size < calls.length ? clockFault(env, report.storeNow, now) : null;
    this.#looksFirst = stored.size > 0 || fault !== null;
    const others = calls.filter(({ addition: { schedule }, resolve }) => {
      const unchanged = stored.get(schedule.id);
      if (unchanged !== undefined) resolve({ asked: schedule, stored: unchanged, change: "kept" });
      return unchanged === undefined;
    });
    if (fault !== null) throw fault;
    return others;
  }

  /** Writes schedules in one commit, and without those whose id is in use. What the store refuses is halved until it is
   *  known which schedule is refused. */
  async #write(calls: readonly PreparedCall[]): Promise<void> {
    const [first] = calls;
    if (first === undefined) return;
    const { store } = this.#context.env;
    const note = { at: first.addition.schedule.createdAt, by: first.by };
    try {
      const additions = calls.map(({ addition }) => addition);
      const report = await store.addSchedules(additions, note);
      if (report.conflicts === null) {
        calls.forEach(({ addition, resolve }, index) => {
          const result = report.results[index];
          if (result !== undefined)
            resolve({ asked: addition.schedule, stored: result.schedule, change: result.change });
        });
        return;
      }
      const inUse = new Set(report.conflicts);
      for (const place of inUse) calls[place]?.reject(idInUse("schedule", calls[place].addition.schedule.id));
      await this.#write(calls.filter((_, place) => !inUse.has(place)));
    } catch (error) {
      if (calls.length === 1 || error instanceof StoreUnavailableError) {
        for (const { reject } of calls) reject(error);
        return;
      }
      const middle = Math.ceil(calls.length / 2);
      await this.#write(calls.slice(0, middle));
      await this.#write(calls.slice(middle));
    }
  }
}

/** Calls that share a commit, in their order: not too many, and all by one. */
function batchesOf(calls: readonly PreparedCall[]): PreparedCall[][] {
  const batches: PreparedCall[][] = [];
  for (const call of calls) {
    const last = batches.at(-1);
    const fits = last !== undefined && last.length < SCHEDULES_PER_COMMIT_MAX && last[0]?.by === call.by;
    if (fits) last.push(call);
    else batches.push([call]);
  }
  return batches;
}

export function idInUse(what: "schedule" | "blackout", id: string): ConflictingIdError {
  return new ConflictingIdError(
    `there is a ${what} "${id}" already; choose another id, or conflictPolicy "update", "replace" or "doNothing"`,
    id,
  );
}
