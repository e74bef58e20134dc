import * as v from "valibot";
import { checker, objectOf } from "../../../core/check.ts";
import { isPlain, mustBe, optionError } from "../../../core/option-errors.ts";
import type { PoolSettings } from "../../remote/pool-settings.ts";
import { poolEntries, poolSettings, type RemoteExecutorOptions } from "../../remote/remote-options.ts";
import type { WebWorkerLike } from "./web-worker.ts";

/** Options of a `WorkerExecutor` in a browser. */
export interface WebWorkerExecutorOptions extends Omit<RemoteExecutorOptions, "module"> {
  /**
   * Makes a new Web Worker, whose module calls `serveTasks`. Written in one piece, as bundlers find it:
   * `() => new Worker(new URL("./tasks-worker.js", import.meta.url), { type: "module" })`.
   */
  readonly worker: () => WebWorkerLike;
}

export interface WebWorkerSettings {
  readonly pool: PoolSettings;
  readonly worker: () => WebWorkerLike;
}

/** @throws {OptionsError} with one issue per problem */
export function checkWebWorkerOptions(options: WebWorkerExecutorOptions): WebWorkerSettings {
  const where = "new WorkerExecutor()";
  if (isPlain(options) && "module" in options)
    throw optionError(where, "module", "is for Node, Deno and Bun; in a browser, pass worker");
  const { worker, ...pool } = check(options, where);
  return { pool: poolSettings(pool), worker };
}

const check = checker(() =>
  objectOf({
    worker: v.custom<() => WebWorkerLike>(
      (value) => typeof value === "function",
      ({ input }) => mustBe("a function that makes a Web Worker", input),
    ),
    ...poolEntries(),
  }),
);
