import type { EventBroker } from "../../brokers/event-broker.ts";
import { type Clock, sleepFor, systemClock } from "../../core/clock.ts";
import { OptionsError } from "../../core/errors.ts";
import { InlineExecutor } from "../../executors/inline.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import { hasLabels } from "../../records/policies.ts";
import { defaultBroker } from "../../scheduler/driving/default-broker.ts";
import { HEALTH_ANSWER_MS } from "../../scheduler/verbs/limits.ts";
import type { DataStore, ScheduleCounts, StoreInspection } from "../../stores/data-store.ts";
import { gaugeText, type LabelText, label } from "./families.ts";
import { METRICS_COUNT_MAX } from "./limits.ts";
import { Tally } from "./tally.ts";
import type { TaskLabels } from "./task-labels.ts";
import { type Openness, WatchedBroker, WatchedExecutor, watchedStore } from "./watched.ts";

/** The options of a `Scheduler` that `Metrics.watch` reads. */
export interface WatchedOptions {
  /** The store, which must be given, because it is what is watched: `new MemoryDataStore()` is what a `Scheduler` takes
   *  where none is given. */
  dataStore: DataStore;
  /** The broker of the scheduler. Default: one for its store. */
  eventBroker?: EventBroker | undefined;
  executors?: Record<string, JobExecutor> | undefined;
  clock?: Clock | undefined;
}

/** Names and values that a task has all of. */
type TaskLabelFilter = Readonly<Record<string, string>>;

/** The store of a `Metrics`, as it was given and as it is watched. */
interface WatchedStore {
  readonly store: DataStore;
  readonly proxy: DataStore;
  readonly clock: Clock;
  readonly openness: Openness;
}

/**
 * What schedulers of this process do, as numbers that Prometheus and those who speak its format collect. It counts what
 * this process does itself, so that the numbers of several processes can be added up; the gauges tell of the store, and
 * are the same in all of them.
 *
 * Numbers of a task have the label `task`: the first 200 tasks that come have their own, and the rest share `other`.
 *
 * @example
 * const metrics = new Metrics();
 * const scheduler = new Scheduler(metrics.watch({ dataStore }));
 * const answer = new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } });
 */
export class Metrics {
  /** The media type of {@link text}. */
  readonly contentType: string = "text/plain; version=0.0.4; charset=utf-8";
  readonly #tally = new Tally();
  readonly #brokers = new WeakMap<EventBroker, EventBroker>();
  readonly #executors = new WeakMap<JobExecutor, JobExecutor>();
  #watched: WatchedStore | null = null;

  /**
   * Options for a `Scheduler` that is watched: the given ones, with a store, a broker and executors that count and pass
   * everything on. `dataStore` must be among them, also where a `Scheduler` without metrics would make its own. Several
   * schedulers of a process may be watched by one `Metrics`, if they have one store object.
   * @throws {OptionsError} without a `dataStore`, and for another store than that of an earlier call
   * @example
   * const scheduler = new Scheduler(metrics.watch({ dataStore: new MemoryDataStore(), timeZone: "Europe/Berlin" }));
   */
  watch<const Options extends object>(options: Options & WatchedOptions): Options {
    const { dataStore, clock = systemClock, executors = {} } = options;
    const { proxy } = this.#watchedStore(dataStore, clock);
    const all = { inline: new InlineExecutor(), ...executors };
    const watchedExecutors = Object.entries(all).map(([name, executor]) => [name, this.#executor(executor, clock)]);
    return {
      ...options,
      dataStore: proxy,
      // The one that the scheduler would take, which other schedulers on this store object share.
      eventBroker: this.#broker(options.eventBroker ?? defaultBroker(dataStore)),
      executors: Object.fromEntries(watchedExecutors),
    };
  }

  /**
   * All numbers in the text format of Prometheus (version 0.0.4). It costs one read of the store, in which each
   * schedule counts, and answers within 5 s: of a store that does not answer, `escapement_store_up` is 0. The gauges
   * are left out while no scheduler has opened the store. It rejects for labels that are none, and for nothing else.
   *
   * @param filter with `labels`: the numbers of the tasks that have all of them, and `escapement_store_up`. It costs a
   *   read of the tasks more, and while the store does not answer, there are no other numbers
   * @throws {OptionsError}
   * @example
   * const ofBilling = await metrics.text({ labels: { team: "billing" } });
   */
  async text(filter: { readonly labels?: TaskLabelFilter | undefined } = {}): Promise<string> {
    const { labels } = filter;
    checkLabels(labels);
    const whole = await this.#text();
    if (labels === undefined) return whole;
    const tasks = this.#watched?.openness.isOpen === true ? await tasksOf(this.#watched, labels) : [];
    return linesOfTasks(whole, new Set(tasks.map((id) => this.#tally.labels.of(id))));
  }

  async #text(): Promise<string> {
    const counted = this.#tally.instruments.text();
    const watched = this.#watched;
    if (watched?.openness.isOpen !== true) return counted;
    const now = watched.clock.now();
    const inspection = await inspected(watched, now);
    return counted + gaugesText(inspection, now, this.#tally.labels);
  }

  #watchedStore(store: DataStore | undefined, clock: Clock): WatchedStore {
    const known = this.#watched;
    // Options that were watched before may be given again, for another scheduler.
    if (known !== null && (store === known.store || store === known.proxy)) return known;
    if (store === undefined) throw wrongStore(STORE_MISSING);
    if (known !== null) throw wrongStore("must be that of the earlier call; make a Metrics for each store");
    const openness: Openness = { isOpen: false };
    this.#watched = { store, clock, openness, proxy: watchedStore(store, this.#tally, clock, openness) };
    return this.#watched;
  }

  #broker(broker: EventBroker): EventBroker {
    if (broker instanceof WatchedBroker) return broker;
    const known = this.#brokers.get(broker) ?? new WatchedBroker(broker, this.#tally);
    this.#brokers.set(broker, known);
    return known;
  }

  #executor(executor: JobExecutor, clock: Clock): JobExecutor {
    if (executor instanceof WatchedExecutor) return executor;
    const known = this.#executors.get(executor) ?? new WatchedExecutor(executor, this.#tally, clock);
    this.#executors.set(executor, known);
    return known;
  }
}

/** What is in the store; null when the store fails, or does not answer in time. */
async function inspected({ store, clock }: WatchedStore, now: number): Promise<StoreInspection | null> {
  const answered = new AbortController();
  try {
    const late = sleepFor(clock, HEALTH_ANSWER_MS, answered.signal).then(() => null);
    return await Promise.race([store.inspect(now, { countsSchedules: true, countMax: METRICS_COUNT_MAX }), late]);
  } catch {
    return null;
  } finally {
    answered.abort();
  }
}

/** The ids of the tasks that have all of the labels; none while the store does not answer in time. */
async function tasksOf({ store, clock }: WatchedStore, labels: TaskLabelFilter): Promise<readonly string[]> {
  const answered = new AbortController();
  try {
    const late = sleepFor(clock, HEALTH_ANSWER_MS, answered.signal).then(() => []);
    const tasks = await Promise.race([store.getTasks(), late]);
    return tasks.filter((task) => hasLabels(task.labels, labels)).map(({ id }) => id);
  } catch {
    return [];
  } finally {
    answered.abort();
  }
}

/** The lines of some tasks, with those that tell what a number is, and whether the store answers. */
function linesOfTasks(text: string, tasks: ReadonlySet<LabelText>): string {
  const isWanted = (line: string): boolean => {
    if (line === "" || line.startsWith("#") || line.startsWith("escapement_store_up ")) return true;
    const [, task = ""] = /^\w+\{(task="(?:[^"\\]|\\.)*")/.exec(line) ?? [];
    // What tasks share that have no label of their own is of others, too.
    return task !== OTHER && tasks.has(task);
  };
  return text.split("\n").filter(isWanted).join("\n");
}

const OTHER = label("task", "other");

/** A filter that names no label may be a mistake. */
function checkLabels(labels: TaskLabelFilter | undefined): void {
  if (labels === undefined) return;
  const values = Object.values(labels);
  if (values.length > 0 && values.every((value) => typeof value === "string")) return;
  const problem = "must have a name and its text at least; leave it out for all";
  throw new OptionsError(`text(): labels ${problem}`, [{ path: "labels", message: problem }]);
}

const STORE_MISSING =
  "must be given, because the store is what is watched; where there is no database, pass new MemoryDataStore()";

function wrongStore(problem: string): OptionsError {
  return new OptionsError(`watch(): dataStore ${problem}`, [{ path: "dataStore", message: problem }]);
}

/** What a look at the store found out, as gauges. `inspection` is null for a store that did not answer: then nothing
 *  but that is known. */
function gaugesText(inspection: StoreInspection | null, now: number, tasks: TaskLabels): string {
  const up = gaugeText(
    "escapement_store_up",
    "Whether the data store answers: 1 or 0.",
    new Map([["", inspection === null ? 0 : 1]]),
  );
  if (inspection === null) return up;
  const { oldestDueJob, schedules, overdue } = inspection;
  const oldestDueMs = oldestDueJob === null ? 0 : Math.max(0, now - oldestDueJob.runAt);
  const parts = [
    up,
    gaugeText("escapement_jobs", "Unfinished jobs of the store, by what they do.", jobsByState(inspection, tasks)),
    gaugeText(
      "escapement_oldest_due_job_seconds",
      "How long the job waits that has been due for the longest time; 0 when none is due.",
      new Map([["", oldestDueMs / 1000]]),
    ),
    gaugeText(
      "escapement_occurrences_overdue",
      "Occurrences that have not started or not ended in time, and still have not.",
      new Map([["", overdue?.count ?? 0]]),
    ),
    gaugeText(
      "escapement_counts_capped",
      "Whether one of these counts stopped at its bound, so that there are more: 1 or 0.",
      new Map([["", isCapped(inspection) ? 1 : 0]]),
    ),
    ...(schedules === undefined ? [] : scheduleGauges(schedules)),
  ];
  return parts.join("");
}

function isCapped({ tasks, schedules, overdue }: StoreInspection): boolean {
  const areJobs = tasks.some(
    ({ isQueuedCapped, isBlockedCapped }) => isQueuedCapped === true || isBlockedCapped === true,
  );
  return areJobs || schedules?.isCapped === true || overdue?.isCapped === true;
}

function jobsByState({ tasks: backlog }: StoreInspection, tasks: TaskLabels): ReadonlyMap<LabelText, number> {
  const counts = new Map<LabelText, number>();
  for (const { taskId, waiting, running, blocked = 0 } of backlog) {
    const task = tasks.of(taskId);
    const byState = { queued: waiting - blocked, blocked, running };
    for (const [state, count] of Object.entries(byState)) {
      const labels = `${task},${label("state", state)}`;
      counts.set(labels, (counts.get(labels) ?? 0) + count);
    }
  }
  return counts;
}

function scheduleGauges({ active, paused, ended, overdue }: ScheduleCounts): string[] {
  const byState = Object.entries({ active, paused, ended });
  return [
    gaugeText(
      "escapement_schedules",
      "Schedules of the store, by state.",
      new Map(byState.map(([state, count]) => [label("state", state), count])),
    ),
    gaugeText("escapement_schedules_overdue", "Schedules that are due and have not fired.", new Map([["", overdue]])),
  ];
}
