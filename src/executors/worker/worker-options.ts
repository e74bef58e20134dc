import * as v from "valibot";
import { checker, objectOf, textUpTo, wholeNumber } from "../../core/check.ts";
import { isPlain, optionError, readingError } from "../../core/option-errors.ts";
import type { PoolSettings } from "../remote/pool-settings.ts";
import {
  poolSettings,
  programBeside,
  programEntries,
  type RemoteExecutorOptions,
  remoteEntries,
  remoteHints,
} from "../remote/remote-options.ts";
import type { WebWorkerExecutorOptions } from "./browser/web-worker-options.ts";
import type { ThreadSettings } from "./thread-channel.ts";

/** Options of a {@link WorkerExecutor}. */
export interface WorkerExecutorOptions extends RemoteExecutorOptions {
  /** Limits of each thread's memory, in megabytes, as `node:worker_threads` has them. A thread that needs more is
   *  lost, and the program goes on. Node only: Deno and Bun ignore them. Default: those of Node. */
  readonly resourceLimits?: WorkerResourceLimits | undefined;
  /** Environment variables of the threads. Default: those of the program. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Arguments of the runtime for the threads, such as `["--import", "tsx"]`. Node only. Default: those of the
   *  program. */
  readonly execArgv?: readonly string[] | undefined;
  /** Name of the threads, for debuggers and process lists. Default: `"escapement"`. */
  readonly name?: string | undefined;
  /** The program of the threads, for a scheduler that a bundler made into one file: a bundle of the package's
   *  `dist/executors/worker/thread-entry.js`. Default: that file, beside this class. */
  readonly entry?: URL | string | undefined;
}

/** Limits of a thread's memory, in megabytes. Defaults: those of Node. */
export interface WorkerResourceLimits {
  /** For objects that have lived for some time: the greatest part of the memory. */
  readonly maxOldGenerationSizeMb?: number | undefined;
  /** For new objects. */
  readonly maxYoungGenerationSizeMb?: number | undefined;
  /** For code that the runtime has compiled. */
  readonly codeRangeSizeMb?: number | undefined;
  /** For the stack of calls. */
  readonly stackSizeMb?: number | undefined;
}

export interface WorkerSettings {
  readonly pool: PoolSettings;
  readonly thread: ThreadSettings;
}

/** @throws {OptionsError} with one issue per problem */
export function checkWorkerOptions(options: WorkerExecutorOptions | WebWorkerExecutorOptions): WorkerSettings {
  if (isOfBrowsers(options)) throw optionError(WHERE, "worker", "is for browsers; on Node, Deno and Bun, pass module");
  const { resourceLimits, env, execArgv, name, entry, ...pool } = check(options, WHERE);
  return { pool: poolSettings(pool), thread: { resourceLimits, env, execArgv, name, entry } };
}

function isOfBrowsers(options: object): boolean {
  try {
    return isPlain(options) && "worker" in options;
  } catch (error) {
    throw readingError(error, options, WHERE);
  }
}

const WHERE = "new WorkerExecutor()";

const THREAD_ENTRY: string = programBeside(import.meta.url, "thread-entry");

const check = checker(
  () => {
    const megabytes = v.optional(wholeNumber(1));
    return objectOf({
      ...remoteEntries(),
      ...programEntries(THREAD_ENTRY),
      resourceLimits: v.optional(
        objectOf({
          maxOldGenerationSizeMb: megabytes,
          maxYoungGenerationSizeMb: megabytes,
          codeRangeSizeMb: megabytes,
          stackSizeMb: megabytes,
        }),
      ),
      name: v.optional(textUpTo(100), "escapement"),
    });
  },
  remoteHints((name) =>
    name === "cwd" ? "threads have the folder of the program; a ProcessExecutor has a cwd" : null,
  ),
);
