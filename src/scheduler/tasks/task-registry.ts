import { HandlerLookupError, OptionsError, StoreUnavailableError, TaskLookupError } from "../../core/errors.ts";
import { cannotBeRead, isPlain, mustBe, optionError } from "../../core/option-errors.ts";
import type { StandardSchemaV1 } from "../../core/standard-schema.ts";
import { didYouMean } from "../../core/suggest.ts";
import { present, withoutUndefined } from "../../core/without-undefined.ts";
import { InlineExecutor } from "../../executors/inline.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import { NOTICE_TASK_PREFIX } from "../../records/notice.ts";
import type { RateLimit, RetryPolicy } from "../../records/policies.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { DataStore, JobQueue } from "../../stores/data-store.ts";
import {
  type CheckedTaskDefaults,
  type CheckedTaskSettings,
  checkId,
  checkTaskSettings,
  type KeyFunction,
} from "../options/check-options.ts";
import type { CheckedRetry } from "../options/checked-options.ts";
import { mergedLabels } from "../options/labels.ts";
import { SNOOZES_MAX_DEFAULT } from "../options/limits.ts";
import type { NoticeChannel } from "../options/notice-channel.ts";
import { TASK_FIRST } from "../options/option-hints.ts";
import type { TaskSettings } from "../options/options.ts";
import type { Task, TaskHandler } from "../scheduler-client.ts";
import { type ContestedSetting, contestedSettings, declarationText, mergedDeclaration } from "./declared-settings.ts";
import { DefinedTask } from "./defined-tasks.ts";
import { LIMIT_PER_BURST, TASKS_WATCH_MS, UPDATE_TRIES_MAX } from "./limits.ts";

/** Most tasks of an executor that a message names. */
const LISTED_TASKS_MAX = 10;

/** What became of a task that was declared to the store. */
export interface SavedTask {
  /** As this program declares it. */
  readonly declared: TaskRecord;
  /** As the store had it; undefined for a new one. */
  readonly stored: TaskRecord | undefined;
  readonly change: "added" | "updated" | "unchanged" | "outdated";
  /** What others have declared differently: `stored` has their values. */
  readonly contested: readonly ContestedSetting[];
}

export interface RegisteredTask {
  /** As this program declares it, with the defaults of a new task. */
  readonly declared: TaskRecord;
  /** The settings that hold, as far as it is known here what others declared. */
  readonly record: TaskRecord;
  /** Of the program. */
  readonly version?: number;
  /** Null where the task's executor has the handler. */
  readonly handler: TaskHandler<never, unknown> | null;
  readonly schema: StandardSchemaV1 | null;
  readonly concurrencyKey: KeyFunction | null;
}

export interface RegistryOptions {
  readonly store: DataStore;
  readonly identity: string;
  readonly defaults: CheckedTaskDefaults;
  /** The options of `taskDefaults` as the program gave them. */
  readonly givenDefaults: object;
  /** Of the program, for the declarations of its tasks. */
  readonly version: number | undefined;
  /** The executors that this scheduler has, by name. */
  readonly executors: Readonly<Record<string, JobExecutor>>;
  /** Whether this scheduler is known to run jobs, so that a task without an executor here is a mistake. */
  readonly runsJobs: () => boolean;
}

/** The tasks that this scheduler has handlers for, by itself or in its executors. The registry also knows which of them
 *  may not be in the store yet. */
export class TaskRegistry {
  readonly #byId = new Map<string, RegisteredTask>();
  /** Tasks that were passed as references, and have no handler here. */
  readonly #references = new Map<string, { readonly task: DefinedTask; readonly record: TaskRecord }>();
  readonly #unsaved = new Set<string>();
  /** Saved tasks that somebody else has changed since. */
  readonly #changed = new Set<string>();
  /** By task and setting, what was told last of a difference. */
  readonly #told = new Map<string, string>();
  readonly #identity: string;
  readonly #givenDefaults: object;
  /** When a look was last asked to compare all, in epoch milliseconds; null before the first one. */
  #watchedAt: number | null = null;
  readonly #withoutKey = new Set<string>();
  readonly #store: DataStore;
  readonly #defaults: CheckedTaskDefaults;
  readonly #version: number | undefined;
  readonly #executors: Readonly<Record<string, JobExecutor>>;
  readonly #runsJobs: () => boolean;
  #queues: JobQueue[] | null = null;
  /** Whether the executors are open, so that it is known which tasks they have. */
  #hasOpenExecutors = false;

  constructor({ store, identity, defaults, givenDefaults, version, executors, runsJobs }: RegistryOptions) {
    this.#store = store;
    this.#identity = identity;
    this.#givenDefaults = withoutUndefined(givenDefaults);
    this.#defaults = defaults;
    this.#version = version;
    this.#executors = executors;
    this.#runsJobs = runsJobs;
  }

  register(
    id: string,
    settings: TaskSettings & { schema?: StandardSchemaV1 },
    handler: TaskHandler<never, unknown> | null = null,
  ): Task {
    checkId(id, "task id");
    if (handler !== null && typeof handler !== "function") throw handlerMissing(id);
    const { schema = null, concurrencyKey = null, ...checked } = checkTaskSettings(settings, `task "${id}"`);
    const given = new Set(Object.keys({ ...this.#givenDefaults, ...withoutUndefined(settings) }));
    const declared = this.#declared(toRecord(id, this.#defaults, checked), given);
    if (handler === null && this.#isInline(declared.executor)) throw handlerMissing(id);
    const version = withoutUndefined({ version: this.#version });
    const task = { declared, record: declared, ...version, handler, schema, concurrencyKey };
    if (this.#runsJobs()) {
      this.#assertExecutor(declared);
      if (this.#hasOpenExecutors) this.#assertHandler(task);
    }
    this.#byId.set(id, task);
    this.#unsaved.add(id);
    this.#queues = null;
    return Object.freeze({ id });
  }

  #declared(record: TaskRecord, given: Set<string>): TaskRecord {
    // Of the two limits, the one of all jobs follows from the other.
    if (record.maxRunningPerKey !== undefined) given.add("maxRunningJobs");
    const declaration = declarationText(record, given);
    // A program that says nothing tells nobody which settings are newer.
    const version = declaration === "{}" ? undefined : this.#version;
    return { ...record, declaration, ...withoutUndefined({ version }) };
  }

  /** Registers the task of a channel of notices. @throws {OptionsError} */
  notify(channel: NoticeChannel): void {
    const { name, on, schedules, settings } = channel;
    const id = NOTICE_TASK_PREFIX + name;
    if (this.#byId.has(id)) throw optionError("new Scheduler()", "notices", `must have one channel "${name}" only`);
    if (!this.#store.ledger) throw optionError("new Scheduler()", "notices", "need a data store with a ledger");
    const metadata = { on, ...(schedules === undefined ? {} : { schedules }) };
    const own = { executor: "inline", maxRunningPerKey: null, rateLimit: null, fair: false, ...settings, metadata };
    this.register(id, own, (_payload, context) => channel.send(context));
  }

  /** The id of a task for jobs and schedules of callers, which is given as a task, an id or a named function. A named
   *  function is registered as a task on the way. @throws {OptionsError} when the id is not valid, or the function has
   *  no name, or another task has its name, or the id is one of the tasks of notices */
  idOf(task: unknown): string {
    if (typeof task === "string") return idOfOwn(task);
    if (task instanceof DefinedTask) this.#refer(task);
    if (typeof task !== "function") return idOfOwn(idIn(task));
    const bound = /^bound (.*)$/s.exec(task.name);
    if (task.name === "" || bound !== null) {
      const [what, id] =
        bound === null ? ["an anonymous function has no name to be found by", "id"] : nameOfBound(bound[1] ?? "");
      throw new OptionsError(`${what}; register it: scheduler.task(${id}, handler)`, [
        { path: "task", message: "a function without a name of its own" },
      ]);
    }
    const registered = this.#byId.get(task.name);
    if (registered === undefined) this.register(idOfOwn(task.name), {}, task as TaskHandler<never, unknown>);
    else if (registered.handler !== (task as unknown)) {
      throw new OptionsError(
        `the name "${task.name}" already belongs to a task with another handler; register one of them under its own id`,
        [{ path: "task", message: "the name is taken" }],
      );
    }
    return task.name;
  }

  /** Registers the handlers of defined tasks, and the tasks without a handler that are for an executor of this
   *  scheduler which has handlers. The settings go over those of each task. @throws {OptionsError} */
  use(defined: readonly DefinedTask[], settings: TaskSettings): void {
    checkTaskSettings(settings, "use()");
    const tasks = defined.filter((task) => task.handler !== null || this.#isForExecutor(task, settings));
    if (tasks.length === 0) throw nothingToUse(defined);
    for (const { id, handler } of tasks) {
      const registered = this.#byId.get(id);
      if (registered === undefined || registered.handler === handler) continue;
      const message = `must be a new id, because a task "${id}" with another handler is registered here already`;
      throw optionError("use()", id, message);
    }
    for (const task of tasks) {
      const schema = task.schema === null ? {} : { schema: task.schema };
      const merged = { ...task.settings, ...withoutUndefined(settings), ...schema };
      this.register(task.id, merged, task.handler);
    }
  }

  /** Whether a task without a handler names an executor that may have its handler. A task of which `use` says nothing
   *  may be for executors of other programs. */
  #isForExecutor(task: DefinedTask, settings: TaskSettings): boolean {
    const name = settings.executor ?? task.settings.executor ?? this.#defaults.executor;
    const isKnown = settings.executor !== undefined || Object.hasOwn(this.#executors, name);
    return isKnown && !this.#isInline(name);
  }

  /** Whether an executor runs handlers of this thread alone, as far as that is known before it is open. The one that
   *  every scheduler has may be wrapped in one that measures. */
  #isInline(name: string): boolean {
    return name === "inline" || this.#executors[name] instanceof InlineExecutor;
  }

  /** Remembers the schema and the settings of a task that has no handler here. */
  #refer(task: DefinedTask): void {
    if (this.#byId.has(task.id) || this.#references.get(task.id)?.task === task) return;
    const checked = checkTaskSettings(task.settings, `task "${task.id}"`);
    this.#references.set(task.id, { task, record: toRecord(task.id, this.#defaults, checked) });
  }

  /** The schema of a task's payloads, as far as it is known here. */
  schemaOf(id: string): StandardSchemaV1 | null {
    return this.#byId.get(id)?.schema ?? this.#references.get(id)?.task.schema ?? null;
  }

  /** The function that tells the concurrency key of a task's payloads, as far as it is known here. */
  keyFunctionOf(id: string): KeyFunction | null {
    const registered = this.#byId.get(id);
    if (registered !== undefined) return registered.concurrencyKey;
    return this.#references.get(id)?.task.settings.concurrencyKey ?? null;
  }

  /** Whether this is the first time that a fair task is asked about because a job has no key, so that one warning says
   *  so. */
  isFirstWithoutKey(id: string): boolean {
    if (this.#withoutKey.has(id)) return false;
    this.#withoutKey.add(id);
    return true;
  }

  /** For a scheduler that is about to run jobs. @throws {OptionsError} when it lacks the executor of a task */
  assertExecutors(): void {
    for (const { declared } of this.#byId.values()) this.#assertExecutor(declared);
  }

  #assertExecutor({ id, executor }: TaskRecord): void {
    if (Object.hasOwn(this.#executors, executor)) return;
    const executors = Object.keys(this.#executors);
    const names = executors.map((name) => `"${name}"`).join(", ");
    const advice = didYouMean(executor, executors, "pass it: new Scheduler({ executors: { name: executor } })");
    const message = mustBe(`the name of an executor that this scheduler has (${names})`, executor, "", advice);
    throw optionError(`task "${id}"`, "executor", message);
  }

  /** The executors are open (or closed), so that it is known (or not) which tasks they have. */
  executorsOpened(areOpen = true): void {
    if (this.#hasOpenExecutors !== areOpen) this.#queues = null;
    this.#hasOpenExecutors = areOpen;
  }

  /** For a scheduler that runs jobs, once its executors are open. @throws {HandlerLookupError} when neither the
   *  scheduler nor the executor of a task has a handler for the task
   *  @throws {OptionsError} when an executor has a capacity by which none of its jobs would ever start */
  assertHandlers(): void {
    for (const task of this.#byId.values()) this.#assertHandler(task);
    for (const [name, executor] of Object.entries(this.#executors)) assertCapacity(name, executor);
  }

  #assertHandler(task: RegisteredTask): void {
    const { id, executor: name } = task.declared;
    const executor = this.#executors[name];
    if (executor === undefined || this.#hasHandler(task, executor)) return;
    const { taskIds = [] } = executor;
    const ids = taskIds.slice(0, LISTED_TASKS_MAX).map((taskId) => `"${taskId}"`);
    const advice = didYouMean(id, taskIds, "register one, or give the task another executor");
    const has = ids.length === 0 ? "" : ` (it has ${ids.join(", ")}${taskIds.length > ids.length ? ", ..." : ""})`;
    throw new HandlerLookupError(`executor "${name}" has no handler for task "${id}"${has}; ${advice}`, id);
  }

  /** Whether an executor can run the jobs of a task, as far as that is known. */
  #hasHandler({ record, handler }: RegisteredTask, { taskIds }: JobExecutor): boolean {
    if (taskIds !== undefined) return taskIds.includes(record.id);
    return handler !== null || !this.#hasOpenExecutors;
  }

  /** What is missing here to run the jobs of a queue, or null. */
  missing({ taskId, executor: name }: JobQueue): "task" | "executor" | null {
    const task = this.#byId.get(taskId);
    if (task === undefined) return "task";
    const executor = Object.hasOwn(this.#executors, name) ? this.#executors[name] : undefined;
    if (executor === undefined) return "executor";
    return this.#hasHandler(task, executor) ? null : "task";
  }

  get(id: string): RegisteredTask | undefined {
    return this.#byId.get(id);
  }

  /** @throws {HandlerLookupError} */
  handlerOf(id: string): RegisteredTask {
    const task = this.#byId.get(id);
    if (task !== undefined) return task;
    throw new HandlerLookupError(`this scheduler has no handler for task "${id}"; register one: scheduler.task()`, id);
  }

  /** The settings of a task, from this registry or else from the store or else from a reference. @throws
   *  {TaskLookupError} */
  async settingsOf(id: string): Promise<TaskRecord> {
    const record =
      this.#byId.get(id)?.record ?? (await this.#store.getTask(id)) ?? this.#references.get(id)?.record ?? null;
    if (record !== null) return record;
    throw new TaskLookupError(
      `no task "${id}" is known here or in the data store; ` +
        `register it before it is used: scheduler.task("${id}", handler)`,
      id,
    );
  }

  /** The version of the program; undefined when it has none. */
  get version(): number | undefined {
    return this.#version;
  }

  /** The ids of the tasks that have handlers here, or in an executor. */
  get ids(): readonly string[] {
    return [...this.#byId.keys()];
  }

  /** The store may have been emptied meanwhile: all tasks are written or compared again. */
  declareAnew(): void {
    this.executorsOpened(false);
    for (const id of this.#byId.keys()) this.#unsaved.add(id);
    this.#changed.clear();
  }

  /** Somebody has changed a task. The next look compares all. */
  watchSoon(): void {
    this.#watchedAt = Number.NEGATIVE_INFINITY;
  }

  /** Whether there are tasks that may not be in the store yet. */
  get hasUnsaved(): boolean {
    return this.#unsaved.size > 0;
  }

  /** The records of tasks that may not be in the store yet, for a look that compares them with the stored records; null
   *  when all tasks are in the store. */
  get unsaved(): readonly TaskRecord[] | null {
    return this.hasUnsaved ? [...this.#unsaved].map((id) => this.handlerOf(id).declared) : null;
  }

  /** The records that a look is to compare with the stored ones: those that may not be in the store yet, and from time
   *  to time all, as they were when they were saved; null for none. */
  toCompare(now: number): readonly TaskRecord[] | null {
    const { unsaved } = this;
    if (unsaved !== null || this.#byId.size === 0) return unsaved;
    // What is saved at the start needs no comparison then, and a clock that was set back does not put it off.
    this.#watchedAt ??= now;
    if (now >= this.#watchedAt && now < this.#watchedAt + TASKS_WATCH_MS) return null;
    this.#watchedAt = now;
    return [...this.#byId.values()].map(({ record }) => record);
  }

  /** A look has compared these records: the store has all of them, except those with the ids in `staleIds`. */
  compared(records: readonly TaskRecord[], staleIds: readonly string[]): void {
    const stale = new Set(staleIds);
    for (const record of records) {
      if (!stale.has(record.id)) this.#saved(record, record);
      else if (!this.#unsaved.has(record.id)) this.#changed.add(record.id);
    }
  }

  /** Writes the tasks that may not be in the store yet, and reads those that others have changed. Returns the tasks
   *  that were changed, refused or declared differently. */
  async save(): Promise<SavedTask[]> {
    const saved: SavedTask[] = [];
    let stored: ReadonlyMap<string, TaskRecord> | null = null;
    let left = this.unsaved ?? [];
    for (let tries = 0; left.length > 0; tries++) {
      if (tries === UPDATE_TRIES_MAX) throw tooManyDeclarations(left);
      const known = stored;
      const plans = left.map((declared) => ({ declared, ...mergedDeclaration(known?.get(declared.id), declared) }));
      const puts = plans.flatMap(({ put }) => (put === null ? [] : [{ ...put, declaredBy: this.#identity }]));
      const changes = puts.length === 0 ? [] : await this.#store.putTasks(puts);
      const refused: TaskRecord[] = [];
      for (const { declared, record, put, contested, isOutdated } of plans) {
        const change = put === null ? (isOutdated ? "outdated" : "unchanged") : changes.shift();
        if (put !== null && (change === "conflict" || change === "outdated")) {
          refused.push(declared);
          continue;
        }
        this.#saved(declared, record);
        saved.push({ declared, stored: known?.get(declared.id), change: change as SavedTask["change"], contested });
      }
      left = refused;
      if (refused.length > 0 || this.#changed.size > 0) stored = await this.#storedTasks();
    }
    return [...saved, ...(await this.#readChanged(stored))].filter(
      ({ change, contested }) => change !== "unchanged" || contested.length > 0,
    );
  }

  /** Takes over what others have declared of tasks that were saved before. */
  async #readChanged(known: ReadonlyMap<string, TaskRecord> | null): Promise<SavedTask[]> {
    if (this.#changed.size === 0) return [];
    const stored = known ?? (await this.#storedTasks());
    const ids = [...this.#changed];
    this.#changed.clear();
    return ids.flatMap((id) => {
      const [task, record] = [this.#byId.get(id), stored.get(id)];
      if (task === undefined || record === undefined || this.#unsaved.has(id)) return [];
      const { declared } = task;
      this.#saved(declared, record);
      return [{ declared, stored: record, change: "unchanged", contested: contestedSettings(record, declared) }];
    });
  }

  async #storedTasks(): Promise<ReadonlyMap<string, TaskRecord>> {
    return new Map((await this.#store.getTasks()).map((task) => [task.id, task]));
  }

  /** Whether this difference, or which of both values counts, is told for the first time. */
  isFirstTold(id: string, { name, hash }: ContestedSetting, isMine: boolean): boolean {
    const [setting, told] = [JSON.stringify([id, name]), JSON.stringify([hash, isMine])];
    if (this.#told.get(setting) === told) return false;
    this.#told.set(setting, told);
    return true;
  }

  /** The store has what is declared, so that these settings hold. A task that was registered anew in the meantime has
   *  another record, and stays unsaved. */
  #saved(declared: TaskRecord, record: TaskRecord): void {
    const task = this.#byId.get(declared.id);
    if (task === undefined || (task.declared !== declared && task.record !== declared)) return;
    if (task.declared === declared) this.#unsaved.delete(declared.id);
    this.#byId.set(declared.id, { ...task, record });
  }

  forget(id: string): void {
    this.#byId.delete(id);
    this.#references.delete(id);
    this.#unsaved.delete(id);
    this.#changed.delete(id);
    this.#withoutKey.delete(id);
    this.#queues = null;
  }

  /** The queues whose jobs can run here. */
  get queues(): readonly JobQueue[] {
    this.#queues ??= Object.keys(this.#executors)
      .flatMap((executor) => [...this.#byId.keys()].map((taskId) => ({ executor, taskId })))
      .filter((queue) => this.missing(queue) === null);
    return this.#queues;
  }
}

function handlerMissing(id: string): OptionsError {
  return new OptionsError(`task "${id}" needs a handler: task(id, handler) or task(id, settings, handler)`, [
    { path: "handler", message: "not a function" },
  ]);
}

function tooManyDeclarations(tasks: readonly TaskRecord[]): StoreUnavailableError {
  const ids = tasks.map(({ id }) => `"${id}"`).join(", ");
  return new StoreUnavailableError(`tasks could not be saved, because others change them all the time: ${ids}`);
}

function nothingToUse(tasks: readonly DefinedTask[]): OptionsError {
  const ids = tasks.map(({ id }) => `"${id}"`).join(", ");
  const message = `have no handler (${ids}), so that there is nothing to run: write defineTasks({ id: { handler } })`;
  return optionError("use()", "tasks", message);
}

/** An id that callers may give jobs and schedules. Those of notices are the store's alone, in the commit that makes the
 *  change: the text of another one would go out with the signature of the channel. */
function idOfOwn(given: string): string {
  const id = checkId(given, "task id");
  if (!id.startsWith(NOTICE_TASK_PREFIX)) return id;
  const message = `must not begin with "${NOTICE_TASK_PREFIX}", whose jobs the scheduler makes itself; got "${id}"`;
  throw new OptionsError(`the task id ${message}`, [{ path: "task", message }]);
}

/** The id of what stands for a task. @throws {OptionsError} when it stands for none */
function idIn(task: unknown): string {
  if (typeof task === "object" && task !== null && "id" in task) return task.id as string;
  const isMap = isPlain(task) && Object.values(task).some((item) => item instanceof DefinedTask);
  const advice = isMap ? "pass one of its tasks" : task instanceof Promise ? "await it first" : optionsAdvice(task);
  const message = mustBe("a task, its id or a named function", task, "", advice);
  throw new OptionsError(`the task ${message}`, [{ path: "task", message }]);
}

/** Advice for options in the place of the task. */
function optionsAdvice(value: unknown): string | null {
  return isPlain(value) && ("payload" in value || "task" in value) ? TASK_FIRST : null;
}

function nameOfBound(name: string): [what: string, id: string] {
  return [`the bound function "bound ${name}" has no name of its own`, name === "" ? "id" : `"${name}"`];
}

function toRecord(id: string, defaults: CheckedTaskDefaults, settings: CheckedTaskSettings): TaskRecord {
  const merged = { ...defaults, ...withoutUndefined(settings) };
  const { maxRunningPerKey: perKey = null, rateLimit = null, fair = false } = merged;
  const labels = mergedLabels(defaults.labels, settings.labels, `task "${id}"`);
  return {
    id,
    executor: merged.executor,
    maxRunningJobs: merged.maxRunningJobs === undefined ? (perKey === null ? 1 : null) : merged.maxRunningJobs,
    misfireGraceMs: merged.misfireGraceMs,
    maxRecoveries: merged.maxRecoveries,
    timeoutMs: merged.timeoutMs,
    resultExpirationMs: merged.resultExpirationMs,
    overlap: merged.overlap,
    retry: retryOver(defaults.retry, settings.retry ?? {}),
    metadata: { ...defaults.metadata, ...settings.metadata },
    // Absent where they say nothing, so that a new setting leaves the declarations of tasks without it as they are.
    ...present(merged, "failureExpirationMs", "pauseAfterFailures", "abandonAfterMs"),
    ...(perKey === null ? {} : { maxRunningPerKey: perKey }),
    ...(rateLimit === null ? {} : { rateLimit: rateOf(rateLimit) }),
    ...(fair ? { fair } : {}),
    ...(labels === undefined ? {} : { labels }),
    ...(merged.maxSnoozes === SNOOZES_MAX_DEFAULT ? {} : { maxSnoozes: merged.maxSnoozes }),
    ...(merged.keepLogs ? { keepLogs: merged.keepLogs } : {}),
  };
}

/** What is given of `retry`, over the policy that holds without it. */
export function retryOver(
  policy: RetryPolicy,
  { maxAttempts = policy.maxAttempts, backoff = {} }: CheckedRetry,
): RetryPolicy {
  return { maxAttempts, backoff: { ...policy.backoff, ...withoutUndefined(backoff) } };
}

function rateOf({ limit, perMs, burst }: NonNullable<CheckedTaskSettings["rateLimit"]>): RateLimit {
  return { limit, perMs, burst: burst ?? Math.max(1, Math.floor(limit / LIMIT_PER_BURST)) };
}

function assertCapacity(name: string, executor: JobExecutor): void {
  const where = `executor "${name}"`;
  let capacity: unknown;
  try {
    capacity = executor.capacity;
  } catch (cause) {
    throw optionError(where, "capacity", cannotBeRead(cause), { cause });
  }
  if (capacity === undefined) return;
  if (typeof capacity !== "number" || Number.isNaN(capacity)) {
    throw optionError(where, "capacity", mustBe("how many more jobs it could begin now", capacity));
  }
  if (typeof executor.onCapacity === "function") return;
  throw optionError(where, "onCapacity", "is missing; it has to call a listener each time the capacity has grown");
}
