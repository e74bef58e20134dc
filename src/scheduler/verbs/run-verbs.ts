import { JOB_OUTCOMES } from "../../records/policies.ts";
import type { JobFilter, JobResultFilter, RecordPage } from "../../stores/data-store.ts";
import { wrongCursor } from "../../stores/shared/cursors-and-search.ts";
import { PAGE_BYTES_MAX } from "../../stores/shared/limits.ts";
import { sizeOf } from "../../stores/shared/size-of.ts";
import type { RunCommands } from "../commands/commands.ts";
import type { CheckedRunFilter, FailureFilter, RunFilter, StatsRequest } from "../options/checked-options.ts";
import type { FailureReport } from "../views/failure-group.ts";
import { mapPage, type Page } from "../views/page.ts";
import { Run, type RunFacts, runOfJob, runOfResult } from "../views/run.ts";
import type { StatsReport } from "../views/stats.ts";
import { boundPage } from "./bound-page.ts";
import { groupsOf } from "./failure-groups.ts";
import { FAILURES_SEEN_MAX } from "./limits.ts";
import { countsOf } from "./list-counts.ts";
import { unknownJob } from "./result-waiter.ts";
import { statsOf } from "./stats-of-jobs.ts";
import type { VerbContext } from "./verb-context.ts";

/** A page whose records are this large in total is not filled up from the next part of the list. */
const ENOUGH_BYTES = PAGE_BYTES_MAX / 8;

/** The parts of the list of runs, one after the other: unfinished jobs (of one state, or of all), then results. */
type PartOfRuns = NonNullable<JobFilter["state"]> | "unfinished" | "ended";

const UNFINISHED = ["running", "blocked", "queued"] as const;

/** What a scheduler shows of jobs, ended or not, as one list. */
export class RunVerbs implements RunCommands {
  readonly #context: VerbContext;

  constructor(context: VerbContext) {
    this.#context = context;
  }

  async get(id: string): Promise<Run> {
    const { env, ready } = this.#context;
    await ready();
    const { store, clock } = env;
    const job = await store.getJob(id);
    const result = job === null ? await store.getJobResult(id, clock.now()) : null;
    if (job === null && result === null) throw unknownJob(id);
    return this.#viewOf(job === null ? runOfResult(result as NonNullable<typeof result>) : runOfJob(job));
  }

  async page({ include = {}, ...filter }: CheckedRunFilter): Promise<Page<Run>> {
    await this.#context.ready();
    const page = await boundPage(["getRuns()"], filter, (one) => this.#read(one));
    const { outcome: _, ...others } = filter;
    const list = (limit: number, state?: Run["state"]) =>
      this.#read({ ...(state === undefined ? filter : { ...others, state: [state] }), limit, cursor: null });
    const facets = { queued: ["queued"], blocked: ["blocked"], running: ["running"], ended: JOB_OUTCOMES };
    const counts = await countsOf(include, list, facets, ({ outcome }) => outcome);
    return { ...mapPage(page, (facts) => this.#viewOf(facts)), ...counts };
  }

  async failures(filter: FailureFilter): Promise<FailureReport> {
    const { env, ready } = this.#context;
    await ready();
    const { groupBy: _by, ...selection } = filter;
    const { items, seen } = await env.store.getFailures({ ...selection, limit: FAILURES_SEEN_MAX }, env.clock.now());
    const count = { count: seen, isCapped: seen >= FAILURES_SEEN_MAX };
    return { groups: groupsOf(items, filter), seen: count };
  }

  async stats(request: StatsRequest): Promise<StatsReport> {
    const { env, ready } = this.#context;
    await ready();
    return statsOf(env.store, request, env.clock.now());
  }

  /** A page may begin in one part and end in the next. A cursor is the place of its part, and the cursor within it. */
  async #read(filter: RunFilter): Promise<RecordPage<RunFacts>> {
    const parts = partsOf(filter);
    const [place = "", inner] = filter.cursor === null ? ["0"] : splitOnce(filter.cursor);
    let index = /^\d$/.test(place) ? Number(place) : parts.length;
    if (filter.cursor !== null && index >= parts.length) throw wrongCursor("getRuns()");
    let cursor: string | null = inner ?? null;
    const items: RunFacts[] = [];
    let bytes = 0;
    for (; index < parts.length; index++) {
      const page: RecordPage<RunFacts> = await this.#readPart(parts[index] as PartOfRuns, {
        ...filter,
        limit: filter.limit - items.length,
        cursor,
      });
      for (const one of page.items) {
        items.push(one);
        bytes += sizeOf(one);
      }
      if (page.cursor !== null) return { items, cursor: `${index}:${page.cursor}` };
      cursor = null;
      const isEnough = items.length >= filter.limit || bytes > ENOUGH_BYTES;
      if (isEnough && index + 1 < parts.length) return { items, cursor: String(index + 1) };
    }
    return { items, cursor: null };
  }

  async #readPart(part: PartOfRuns, filter: RunFilter): Promise<RecordPage<RunFacts>> {
    const { store, clock } = this.#context.env;
    if (part === "ended") {
      const { limit, cursor } = filter;
      const results = { limit, cursor, ...resultSelectionOf(filter) };
      return converted(await store.getJobResults(results, clock.now()), runOfResult);
    }
    return converted(await store.getJobs(jobFilterOf(filter, part)), runOfJob);
  }

  #viewOf(facts: RunFacts): Run {
    return new Run(facts, this.#context.env.store.serializer);
  }
}

/** The texts before and after the first colon. */
function splitOnce(text: string): readonly [before: string, after?: string] {
  const place = text.indexOf(":");
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}

function converted<A, B>({ items, cursor }: RecordPage<A>, convert: (record: A) => B): RecordPage<B> {
  return { items: items.map(convert), cursor };
}

/** What only a job that has ended has leaves the others out. */
function partsOf({ state, outcome, error, minRunMs, maxRunMs }: RunFilter): readonly PartOfRuns[] {
  const isOfEnds = [outcome, error, minRunMs, maxRunMs].some((part) => part !== undefined);
  const isWanted = (one: PartOfRuns): boolean => state?.some((given) => given === one) !== false;
  const ended: readonly PartOfRuns[] = isWanted("ended") ? ["ended"] : [];
  if (isOfEnds) return ended;
  const wanted = UNFINISHED.filter(isWanted);
  return [...(wanted.length === UNFINISHED.length ? (["unfinished"] as const) : wanted), ...ended];
}

type RunSelection = Omit<RunFilter, "limit" | "cursor" | "state">;

type Shared = Pick<JobFilter, "taskId" | "scheduleId" | "from" | "until" | "labels" | "search" | "key" | "attemptsMin">;

function sharedOf({ key, minAttempts, ...others }: RunSelection): Shared {
  const { taskId, scheduleId, from, until, labels, search } = others;
  return given({ taskId, scheduleId, from, until, labels, search, key, attemptsMin: minAttempts });
}

function jobFilterOf({ limit, cursor, ...filter }: RunFilter, part: Exclude<PartOfRuns, "ended">): JobFilter {
  const ofState = part === "unfinished" ? {} : { state: part };
  return { limit, cursor, ...sharedOf(filter), order: "newest", ...ofState };
}

/** Which results fit what a filter says of runs. */
export function resultSelectionOf(filter: RunSelection): Omit<JobResultFilter, "limit" | "cursor"> {
  const { outcome: outcomes = [], error, minRunMs: runTimeMsMin, maxRunMs: runTimeMsMax } = filter;
  const [outcome] = outcomes;
  const named = outcomes.length > 1 ? { outcomes } : { outcome };
  return { ...sharedOf(filter), ...given({ ...named, error, runTimeMsMin, runTimeMsMax }) };
}

/** The fields that are not undefined. */
function given<T extends object>(fields: T): { [N in keyof T]?: Exclude<T[N], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [N in keyof T]?: Exclude<T[N], undefined>;
  };
}
