import * as v from "valibot";
import type { AbortSignal } from "../core/abort-signal.ts";
import { checker, objectOf, wholeNumber } from "../core/check.ts";
import { yieldToEventLoop } from "../core/clock.ts";
import { MaxIterationsReachedError, RevisionConflictError } from "../core/errors.ts";
import { mapInTurns } from "../core/in-turns.ts";
import { mustBe, optionError, shown } from "../core/option-errors.ts";
import { instantText } from "../core/temporal.ts";
import { textHash } from "../core/text-hash.ts";
import { ID_LENGTH_MAX } from "../records/limits.ts";
import type { ScheduleRecord } from "../records/schedule.ts";
import { schedulePauseEvents, scheduleRemoved, scheduleSaved } from "../scheduler/events/event-records.ts";
import { checkTrigger } from "../scheduler/options/check-options.ts";
import { PAGE_SIZE_MAX } from "../scheduler/options/limits.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import { differingOptions } from "../scheduler/verbs/declared-schedule.ts";
import { assertExpectable } from "../scheduler/verbs/expectations.ts";
import { BULK_COMMIT_MAX } from "../scheduler/verbs/limits.ts";
import { ScheduleAdditions } from "../scheduler/verbs/schedule-additions.ts";
import { fireTimesOf } from "../scheduler/verbs/schedule-extras.ts";
import { contextOf, type VerbContext } from "../scheduler/verbs/verb-context.ts";
import type { ScheduleFilter } from "../stores/data-store.ts";
import { parseTrigger } from "../triggers/parse-trigger.ts";
import { stepsTaken, withinBudget } from "../triggers/step-budget.ts";
import { type DeclaredSchedule, OWNER_LABEL, type ReadDeclaration, readDeclarations } from "./declared.ts";
import { herdsOf } from "./herds.ts";
import { PLAN_STEPS_MAX } from "./limits.ts";
import { Plan, type PlanFacts, type PlannedFacts } from "./plan-report.ts";
import type { CheckedPlanOptions, Planner } from "./planner.ts";
import { remotePlans } from "./remote-plan.ts";

/** Options of {@link plan}. */
export interface PlanOptions {
  /** Whose schedules the declarations are: text of 1 to 256 characters, which each of these schedules has as its label
   *  `managedBy`. Schedules of nobody, and of others, are never touched. */
  readonly owner: string;
  /** How many next fire times of each schedule the plan shows, before and after: 0 to 100. Default: 3. */
  readonly nextFires?: number | undefined;
  /** Ends the call, which rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link apply}. */
export interface ApplyOptions {
  /** The `revision` that the plan must have, where it was seen before: in a comment on a change, for example.
   *  Default: any. */
  readonly ifRevision?: string | undefined;
  /** Who applies it, for `getScheduleChanges`. Default: the identity of the scheduler. */
  readonly by?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const signal = () => v.optional(v.custom<AbortSignal>((value) => typeof Object(value).aborted === "boolean"));
const name = () => v.pipe(v.string(), v.minLength(1), v.maxLength(ID_LENGTH_MAX));

const checkPlan = checker(
  (): v.GenericSchema<unknown, CheckedPlanOptions> =>
    objectOf({ owner: name(), nextFires: v.optional(wholeNumber(0, 100), 3), signal: signal() }),
);

const checkApply = checker(() =>
  objectOf({ ifRevision: v.optional(name()), by: v.optional(name()), signal: signal() }),
);

/** Declarations that are compared in one turn of the event loop. */
const DECLARED_OF_TURN = 16;

/** What applies a plan. It is no field, because a plan is data. */
const makers = new WeakMap<Plan, (options: ApplyOptions) => Promise<void>>();

/**
 * Compares schedules as a program or a file declares them with those of a store, and changes nothing. Schedules of the
 * owner that are not declared are to be removed. {@link apply} does what the plan says.
 *
 * @param scheduler a scheduler, or a client of a router with an `insight()`
 * @param declared at most 1,000 schedules: code, or JSON that fits `declaredSchema()`
 * @returns what would be added, changed and removed, with the next fire times before and after, and the minutes in
 *   which many schedules would fire
 * @throws {OptionsError} for wrong declarations, and for ids of schedules of another owner, or of nobody
 * @throws {CronSyntaxError} @throws {DeserializationError} for triggers that cannot be read
 * @throws {MaxIterationsReachedError} for triggers whose fire times take too many steps
 * @throws {TaskLookupError} for a task that neither this program nor the store knows
 * @throws what reading the store throws, and the reason of the signal
 * @example
 * const found = await plan(
 *   scheduler,
 *   [{ id: "report", task: "report", trigger: "0 9 * * mon-fri" }],
 *   { owner: "billing" },
 * );
 * if (found.hasChanges) console.log(found.text);
 */
export async function plan(
  scheduler: SchedulerClient,
  declared: readonly DeclaredSchedule[],
  options: PlanOptions,
): Promise<Plan> {
  const checked = checkPlan(options, "plan()");
  const planner = plannerOf(scheduler);
  // The caller may change the list before the plan is applied.
  const kept: unknown = Array.isArray(declared) ? [...declared] : declared;
  const made = new Plan(await planner.plan(kept, checked));
  makers.set(made, async ({ by, signal: ended = checked.signal }) => {
    await planner.apply(kept, { ...checked, signal: ended }, made.revision, by);
  });
  return made;
}

/**
 * Does what a plan says, in one commit, and with the schedules of its owner alone. If one of them, or a schedule with a
 * declared id, was changed, added or removed since the plan was made, nothing happens. Fire times are no such changes.
 *
 * @param plan as {@link plan} returned it
 * @throws {RevisionConflictError} when a schedule was changed since, or the plan is not the one of `ifRevision`: plan
 *   again
 * @throws what {@link plan} throws, {@link StoreUnavailableError} and {@link StoreRefusedError}
 * @example
 * await apply(found, { by: "deploy 42" });
 */
export async function apply(plan: Plan, options: ApplyOptions = {}): Promise<Plan> {
  const { ifRevision, ...others } = checkApply(options, "apply()");
  const make = makers.get(plan);
  if (make === undefined) throw optionError("apply()", "", mustBe("a plan as plan() returned it", plan));
  if (ifRevision !== undefined && plan.revision !== ifRevision) throw changed(plan.owner);
  await make(others as ApplyOptions);
  return plan;
}

function plannerOf(scheduler: SchedulerClient): Planner {
  const context = contextOf(Object(scheduler) as SchedulerClient);
  const planner = context === undefined ? remotePlans(scheduler) : new LocalPlans(context);
  if (planner !== null) return planner;
  throw optionError("plan()", "scheduler", mustBe("a scheduler, or what connect() returns", scheduler));
}

function changed(owner: string): RevisionConflictError {
  const message = `the schedules of ${shown(owner)}, or their declarations, have changed since the plan was made`;
  return new RevisionConflictError(`${message}; plan again`, owner);
}

/** A declaration beside what is stored of it. */
interface Compared {
  readonly asked: ScheduleRecord;
  readonly stored: ScheduleRecord | null;
  readonly setsPaused: boolean;
  readonly facts: PlannedFacts;
  /** What its fire times took. */
  readonly steps: number;
}

/** Everything that a plan is made of. */
interface Comparison {
  readonly compared: readonly Compared[];
  readonly removed: readonly ScheduleRecord[];
  /** All schedules that the plan has read, by id. */
  readonly read: ReadonlyMap<string, ScheduleRecord>;
  readonly revision: string;
}

/** Plans of a scheduler of this process. */
class LocalPlans implements Planner {
  readonly #context: VerbContext;
  readonly #additions: ScheduleAdditions;

  constructor(context: VerbContext) {
    this.#context = context;
    this.#additions = new ScheduleAdditions(context);
  }

  async plan(declared: unknown, options: CheckedPlanOptions): Promise<PlanFacts> {
    const { owner, nextFires: limit } = options;
    const { compared, removed, revision } = await this.#compare(declared, options);
    const changes = compared.filter(({ facts, stored }) => stored === null || facts.options.length > 0);
    const isChanged = new Set(changes);
    const touched = changes.flatMap(({ stored }) => stored ?? []);
    const stored = changes.length === 0 ? [] : await this.#all({ state: "active" }, options.signal);
    const coming = changes.map((one) => after(one));
    const now = this.#context.env.clock.now();
    const herds = await herdsOf(stored, [...touched, ...removed].filter(isActive), coming, now);
    return {
      ...{ owner, revision, herds },
      added: changes.filter((one) => one.stored === null).map(({ facts }) => facts),
      changed: changes.filter((one) => one.stored !== null).map(({ facts }) => facts),
      removed: await mapInTurns(removed, (record) => {
        const { id, taskId } = record;
        return { id, taskId, renamedFrom: null, options: [], before: timesOf(record, limit), after: [] };
      }),
      unchanged: compared.filter((one) => !isChanged.has(one)).map(({ asked }) => asked.id),
    };
  }

  async apply(declared: unknown, options: CheckedPlanOptions, planned: string, by: string | undefined): Promise<void> {
    const { env, ready, scheduled } = this.#context;
    const { compared, removed, read, revision } = await this.#compare(declared, options);
    if (revision !== planned) throw changed(options.owner);
    const changes = compared.filter(({ facts, stored }) => stored === null || facts.options.length > 0);
    if (changes.length + removed.length === 0) return;
    await ready();
    options.signal?.throwIfAborted();
    const ids = [...new Set([...read.keys(), ...changes.map(({ asked }) => asked.id)])];
    const renames = changes.flatMap(({ facts: { id: to, renamedFrom: from } }) =>
      from === null ? [] : [{ from, to }],
    );
    const note = { at: env.clock.now(), by: by ?? env.identity };
    const { moved, schedules } = await env.store.commitSchedules(
      {
        expected: ids.map((id) => ({ id, revision: read.get(id)?.revision ?? null })),
        renames,
        removals: removed.map(({ id }) => id),
        additions: changes.map(({ asked, setsPaused }) => {
          return { schedule: asked, conflictPolicy: "replace", setsPaused } as const;
        }),
      },
      note,
    );
    const [first] = moved;
    if (first !== undefined) {
      const message = `schedule ${shown(first)} was changed by others meanwhile, and nothing was applied; plan again`;
      throw new RevisionConflictError(message, first);
    }
    const gone = [...removed.map(({ id }) => id), ...renames.map(({ from }) => from)];
    env.events.publish([
      ...gone.map((id) => scheduleRemoved(env, id, false)),
      ...schedules.flatMap((record, place) => {
        const { stored = null } = changes[place] ?? {};
        if (stored === null) return [scheduleSaved(env, record, "added")];
        const change = stored.id === record.id ? "updated" : "added";
        return [...schedulePauseEvents(env, record, note.by, stored), scheduleSaved(env, record, change)];
      }),
    ]);
    for (const { taskId, id } of schedules) scheduled(taskId, id);
  }

  /** Reads what is declared, and what is stored of it and of the owner. */
  async #compare(declared: unknown, { owner, nextFires, signal: ended }: CheckedPlanOptions): Promise<Comparison> {
    const { inherited, opened } = this.#context;
    const list = readDeclarations(declared, owner, inherited.scheduleDefaults);
    await opened();
    const owned = await this.#all({ labels: { [OWNER_LABEL]: owner } }, ended);
    if (owned.length > BULK_COMMIT_MAX) {
      const message = `owns ${owned.length} schedules, and a plan has at most ${BULK_COMMIT_MAX}; take several owners`;
      throw optionError("plan()", "owner", message);
    }
    const named = list.flatMap(({ id, renamedFrom }) => (renamedFrom === null ? [id] : [id, renamedFrom]));
    const read = new Map(owned.map((record) => [record.id, record]));
    const others = named.filter((id) => !read.has(id));
    for (let start = 0; start < others.length; start += BULK_COMMIT_MAX) {
      const ids = others.slice(start, start + BULK_COMMIT_MAX);
      for (const record of await this.#all({ ids }, ended)) read.set(record.id, record);
    }
    const compared: Compared[] = [];
    let steps = 0;
    for (const one of list) {
      ended?.throwIfAborted();
      if (compared.length % DECLARED_OF_TURN === DECLARED_OF_TURN - 1) await yieldToEventLoop();
      const found = await this.#comparedWith(one, read, owner, nextFires);
      compared.push(found);
      // The budget of a question bounds each of them, and there may be a thousand.
      steps += found.steps;
      if (steps > PLAN_STEPS_MAX) {
        const message = `the next fire times of the declarations take more than ${PLAN_STEPS_MAX} steps`;
        throw new MaxIterationsReachedError(`${message}; take fewer of them in one plan, or lower nextFires`);
      }
    }
    compared.sort((a, b) => (a.asked.id < b.asked.id ? -1 : 1));
    const kept = new Set(compared.flatMap(({ stored }) => stored?.id ?? []));
    const revisions = [...read.values()].map(({ id, revision }) => JSON.stringify([id, revision])).sort();
    const declarations = compared.map(({ asked, facts }) => [asked.id, asked.declaration, facts.renamedFrom]);
    return {
      ...{ compared, read },
      removed: owned.filter(({ id }) => !kept.has(id)),
      revision: textHash(JSON.stringify([owner, revisions, declarations])),
    };
  }

  async #comparedWith(
    { id, task, rule, renamedFrom, options, where }: ReadDeclaration,
    read: ReadonlyMap<string, ScheduleRecord>,
    owner: string,
    limit: number,
  ): Promise<Compared> {
    const { env, tasks, inherited } = this.#context;
    assertExpectable(env.store, options, options, where);
    const trigger = checkTrigger(rule, where, inherited.timeZone, options);
    const taskId = tasks.idOf(task);
    const asked = await this.#additions.recordOf({ taskId, trigger, options, where });
    let steps = stepsTaken();
    const timesNext = (record: ScheduleRecord): string[] => {
      const times = timesOf(record, limit);
      steps += stepsTaken();
      return times;
    };
    const [existing, former] = [read.get(id), renamedFrom === null ? undefined : read.get(renamedFrom)];
    if (existing !== undefined && former !== undefined) {
      const message = `must be the id of a schedule that is gone, or ${shown(id)} must be: both are there`;
      throw optionError(where, "renamedFrom", message);
    }
    const stored = existing ?? former ?? null;
    if (stored !== null && stored.labels?.[OWNER_LABEL] !== owner) throw notOwned(stored, where, owner);
    const setsPaused = options.paused !== undefined;
    const base = { asked, stored, setsPaused };
    const isRenamed = existing === undefined && former !== undefined;
    const common = { id, taskId: asked.taskId, renamedFrom: isRenamed ? renamedFrom : null };
    if (stored === null) {
      const facts = { ...common, options: [], before: [], after: timesNext(asked) };
      return { ...base, facts, steps };
    }
    const names = differingOptions(stored, asked);
    if (setsPaused && stored.paused !== asked.paused) names.push("paused");
    if (isRenamed) names.unshift("id");
    const times = { before: timesNext(stored), after: timesNext(after(base)) };
    return { ...base, facts: { ...common, options: names, ...times }, steps };
  }

  async #all(filter: Partial<ScheduleFilter>, ended: AbortSignal | undefined): Promise<ScheduleRecord[]> {
    const records: ScheduleRecord[] = [];
    let cursor: string | null = null;
    do {
      ended?.throwIfAborted();
      const page = await this.#context.env.store.getSchedules({ ...filter, limit: PAGE_SIZE_MAX, cursor });
      await yieldToEventLoop();
      records.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== null);
    return records;
  }
}

function isActive({ paused, nextFireTime }: ScheduleRecord): boolean {
  return !paused && nextFireTime !== null;
}

/** The schedule after the plan, as far as its fire times go: those of the same rule stay. */
function after({ asked, stored, setsPaused }: Pick<Compared, "asked" | "stored" | "setsPaused">): ScheduleRecord {
  if (stored === null) return asked;
  const { trigger, nextFireTime } = stored.triggerRule === asked.triggerRule ? stored : asked;
  const { lastFireTime } = stored;
  return { ...asked, trigger, nextFireTime, lastFireTime, paused: setsPaused ? asked.paused : stored.paused };
}

function timesOf(record: ScheduleRecord, limit: number): string[] {
  if (limit === 0) return [];
  try {
    return withinBudget(() => fireTimesOf(record, parseTrigger(record.trigger), limit).map(instantText));
  } catch {
    // This program does not know the trigger, or it fails.
    return [];
  }
}

function notOwned({ id, labels }: ScheduleRecord, where: string, owner: string): Error {
  const other = labels?.[OWNER_LABEL];
  const whose = other === undefined ? "which nobody owns" : `which ${shown(other)} owns`;
  const advice = `to hand it over, give it the label ${OWNER_LABEL}: ${shown(owner)}`;
  return optionError(where, "id", `names the stored schedule ${shown(id)}, ${whose}; ${advice}`);
}
