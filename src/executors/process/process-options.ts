import * as v from "valibot";
import { checker, objectOf, textUpTo } from "../../core/check.ts";
import type { PoolSettings } from "../remote/pool-settings.ts";
import {
  poolSettings,
  programBeside,
  programEntries,
  type RemoteExecutorOptions,
  remoteEntries,
  remoteHints,
} from "../remote/remote-options.ts";
import type { ProcessSettings } from "./process-channel.ts";

/** Options of a {@link ProcessExecutor}. */
export interface ProcessExecutorOptions extends RemoteExecutorOptions {
  /** Environment variables of the processes. Default: those of the program. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Arguments of the runtime for the processes, such as `["--max-old-space-size=512"]`. Default: those of the
   *  program. */
  readonly execArgv?: readonly string[] | undefined;
  /** The folder in which the processes work. Default: that of the program. */
  readonly cwd?: string | undefined;
  /** The program of the processes, for a scheduler that a bundler made into one file: a bundle of the package's
   *  `dist/executors/process/process-entry.js`. Default: that file, beside this class. */
  readonly entry?: URL | string | undefined;
}

export interface ProcessExecutorSettings {
  readonly pool: PoolSettings;
  readonly process: ProcessSettings;
}

/** @throws {OptionsError} with one issue per problem */
export function checkProcessOptions(options: ProcessExecutorOptions): ProcessExecutorSettings {
  const { env, execArgv, cwd, entry, ...pool } = check(options, "new ProcessExecutor()");
  return { pool: poolSettings(pool), process: { env, execArgv, cwd, entry } };
}

const PROCESS_ENTRY: string = programBeside(import.meta.url, "process-entry");

const check = checker(
  () =>
    objectOf({
      ...remoteEntries(),
      ...programEntries(PROCESS_ENTRY),
      cwd: v.optional(textUpTo(4096)),
    }),
  remoteHints((name) =>
    name === "resourceLimits" ? 'processes take execArgv: ["--max-old-space-size=512"] on Node and Deno' : null,
  ),
);
