import * as v from "valibot";
import { durationMs, type Hints, says, wholeNumber } from "../../core/check.ts";
import type { Duration } from "../../core/duration.ts";
import { processorCount } from "../../core/host.ts";
import { mustBe } from "../../core/option-errors.ts";
import { ABORT_GRACE_MS } from "./limits.ts";
import type { PoolSettings } from "./pool-settings.ts";

/** Options of every executor that has workers, such as threads or processes. */
export interface RemoteExecutorOptions {
  /**
   * The module with the tasks, which each worker imports: it exports `tasks`, made by `defineTasks`, or has them as its
   * default. `new URL("./tasks.ts", import.meta.url)`, or such a URL as text. On Node before 22.18 it must be
   * JavaScript.
   */
  readonly module: URL | string;
  /** Most workers at a time. Default: one less than the machine has processors, and at least 1. Never less than
   *  `minWorkers`. */
  readonly maxWorkers?: number | undefined;
  /** Workers that stay even when there is nothing to do. Default: 0. */
  readonly minWorkers?: number | undefined;
  /** Jobs that one worker runs at a time: more than 1 only for handlers that wait more than they compute. A worker that
   *  is lost takes all its jobs with it. Default: 1. */
  readonly jobsPerWorker?: number | undefined;
  /** Jobs after which a worker is replaced by a new one, against leaks; null is unlimited. Default: null. */
  readonly maxJobsPerWorker?: number | null | undefined;
  /** How long a handler may still run after its signal was aborted. Then its worker is killed. Below 5 s, which is what
   *  the scheduler waits. Default: 2 s. */
  readonly abortGrace?: Duration | undefined;
  /** After how long without a job a worker ends; null is never. Default: 60 s. */
  readonly idleTimeout?: Duration | null | undefined;
  /** How long a worker may take to import the module. Default: 30 s. */
  readonly startTimeout?: Duration | undefined;
}

/** Most workers, and most jobs of one worker: more are a mistake, because each worker costs some megabytes. */
const WORKERS_MAX = 1024;
const JOBS_PER_WORKER_MAX = 10_000;

/** The checked options that all executors with workers have. */
interface CheckedPoolOptions {
  readonly maxWorkers: number;
  readonly minWorkers: number;
  readonly jobsPerWorker: number;
  readonly maxJobsPerWorker: number | null;
  readonly abortGraceMs: number;
  readonly idleTimeoutMs: number | null;
  readonly startTimeoutMs: number;
}

/** The same, of the executors that are told a module. */
interface CheckedRemoteOptions extends CheckedPoolOptions {
  readonly module: string;
}

type SchemasOf<Options> = { [Name in keyof Options]: v.GenericSchema<unknown, Options[Name]> };

/** The schemas of all {@link RemoteExecutorOptions}. @internal */
export function remoteEntries(): SchemasOf<CheckedRemoteOptions> {
  return { module: moduleUrl(), ...poolEntries() };
}

/** The schemas of these options without the module. @internal */
export function poolEntries(): SchemasOf<CheckedPoolOptions> {
  const entries = {
    maxWorkers: v.optional(wholeNumber(1, WORKERS_MAX), () => Math.max(1, processorCount() - 1)),
    minWorkers: v.optional(wholeNumber(0, WORKERS_MAX), 0),
    jobsPerWorker: v.optional(wholeNumber(1, JOBS_PER_WORKER_MAX), 1),
    maxJobsPerWorker: v.optional(v.nullable(wholeNumber(1)), null),
    abortGrace: v.optional(v.pipe(durationMs(0), v.check(isBelowGrace, GRACE_RULE)), { milliseconds: 2000 }),
    idleTimeout: v.optional(v.nullable(durationMs(1)), { seconds: 60 }),
    startTimeout: v.optional(durationMs(1), { seconds: 30 }),
  };
  return entries as unknown as SchemasOf<CheckedPoolOptions>;
}

const isBelowGrace = (ms: number): boolean => ms < ABORT_GRACE_MS;
const GRACE_RULE = `must be shorter than ${ABORT_GRACE_MS} ms, after which the scheduler waits for no handler`;

/** The settings of a pool, from checked options. */
export function poolSettings(options: CheckedPoolOptions & { readonly module?: string }): PoolSettings {
  return {
    module: options.module ?? null,
    maxWorkers: Math.max(options.maxWorkers, options.minWorkers),
    minWorkers: options.minWorkers,
    jobsPerWorker: options.jobsPerWorker,
    maxJobsPerWorker: options.maxJobsPerWorker,
    abortGraceMs: options.abortGraceMs,
    idleTimeoutMs: options.idleTimeoutMs,
    startTimeoutMs: options.startTimeoutMs,
  };
}

/** The schemas of options that say how the runtime starts a worker.
 *  @param entry the program of the workers
 *  @internal */
export function programEntries(entry: string): {
  readonly env: v.GenericSchema<Readonly<Record<string, string>> | undefined>;
  readonly execArgv: v.GenericSchema<readonly string[] | undefined>;
  readonly entry: v.GenericSchema<unknown, string>;
} {
  return {
    env: v.optional(v.record(v.string(), v.string(says("text")), says("an object of texts"))),
    execArgv: v.optional(v.array(v.string(says("text")), says("a list of texts"))),
    entry: programUrl(entry),
  };
}

/** The schema of the URL of a program. @param entry the default @internal */
export function programUrl(entry: string): v.GenericSchema<unknown, string> {
  return v.optional(moduleUrl(`./${entry.slice(entry.lastIndexOf("/") + 1)}`), entry);
}

/** The URL of a program of this package, which is in the folder of the module that starts it.
 *  @param url `import.meta.url` of that module
 *  @param name of the program's file, without its ending: sources are TypeScript, and the package is JavaScript */
export function programBeside(url: string, name: string): string {
  return url.replace(/[^/]*\.(ts|js)$/, `${name}.$1`);
}

/** The URL of a module, as a `URL` or as text. The checked value is text.
 *  @param example a path of such a module
 *  @internal */
export function moduleUrl(example = "./tasks.ts"): v.GenericSchema<unknown, string> {
  return v.pipe(
    v.custom<URL | string>(isUrl, ({ input }) =>
      mustBe("the URL of a module", input, "", `write ${urlOf(input, example)}`),
    ),
    v.transform(String),
  );
}

/** The expression of the URL that a path means. */
function urlOf(value: unknown, example: string): string {
  const isPath = typeof value === "string" && /^\.{0,2}\/[\w./-]{1,60}$/.test(value);
  if (!isPath) return `new URL("${example}", import.meta.url)`;
  return value.startsWith("/") ? `"file://${value}"` : `new URL("${value}", import.meta.url)`;
}

/** What is known of likely mistakes: names that other pools have for these options.
 *  @param elsewhere what to do about a name that is an option of another executor; null where that is unknown */
export function remoteHints(elsewhere: (name: string) => string | null = () => null): Hints {
  return {
    takes: "{ module }",
    instead: (value) => {
      if (typeof value === "number") return `write { module, maxWorkers: ${value} }`;
      if (value instanceof URL) return "write { module: url }";
      return typeof value === "string"
        ? `write { module: ${isUrl(value) ? "url" : urlOf(value, "./tasks.ts")} }`
        : null;
    },
    synonyms: {
      filename: "module",
      file: "module",
      script: "module",
      url: "module",
      workers: "maxWorkers",
      threads: "maxWorkers",
      processes: "maxWorkers",
      maxthreads: "maxWorkers",
      maxprocesses: "maxWorkers",
      poolsize: "maxWorkers",
      size: "maxWorkers",
      minthreads: "minWorkers",
      concurrenttasksperworker: "jobsPerWorker",
      tasksperworker: "jobsPerWorker",
      maxtasksperworker: "maxJobsPerWorker",
      maxtasksperchild: "maxJobsPerWorker",
    },
    elsewhere: (name) => {
      if (/^timeout$/i.test(name)) return "it is a setting of the task: scheduler.task(id, { executor, timeout })";
      if (/^tasks$/i.test(name)) return "the module exports them: export const tasks = defineTasks({ ... })";
      if (/^(initializer|init_?args|worker_?data)$/i.test(name)) return "what a worker needs, the module makes itself";
      return elsewhere(name);
    },
  };
}

/** Of files and of data alone, because code comes from nowhere else. A path is no URL: nobody knows where it begins. */
function isUrl(value: unknown): boolean {
  if (!(value instanceof URL) && typeof value !== "string") return false;
  return /^(file|data|blob):/.test(String(value)) && URL.canParse(String(value));
}
