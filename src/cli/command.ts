import type { DataStore } from "../contracts.ts";
import type { SchedulerClient } from "../mod.ts";
import { CliError } from "./failure.ts";
import type { CliIo } from "./io.ts";
import type { Output } from "./output.ts";

/** A command as `--help` shows it. */
export interface CommandSpec {
  readonly name: string;
  /** Its arguments: `<cron...>`, `[file]`. */
  readonly takes?: string;
  readonly summary: string;
  readonly options?: readonly (readonly [flags: string, description: string])[];
  /** What it works on: nothing, whatever has schedules, or one of both. */
  readonly on: "nothing" | "scheduler" | "either";
  /** Whether the first SIGINT or SIGTERM is its own to handle. */
  readonly handlesSignals?: boolean;
  readonly example: string;
  /** Code is loaded when the command is called, because loading all of it would cost every command time. */
  load(): Promise<{ readonly run: CommandHandler }>;
}

/** What a command needs of its scheduler. */
export interface TargetOptions {
  /** Whether a file that does not exist may be made. Default: false. */
  readonly creates?: boolean;
  /** Whether the command takes `--token` for itself, whatever the scheduler is. Default: false. */
  readonly hasToken?: boolean;
}

/** The scheduler that a command works on. */
export interface CommandTarget {
  readonly client: SchedulerClient;
  /** The store that it is over; null for one that is behind a router, or is a module's. */
  readonly dataStore: DataStore | null;
  /** Who makes a change, for the history; nobody where the router says that. */
  readonly by: { readonly by?: string };
  close(): Promise<void>;
}

/** Carries a command out. @returns its exit code */
type CommandHandler = (call: CommandCall) => Promise<number>;

/** One call of a command. */
export interface CommandCall {
  readonly io: CliIo;
  readonly out: Output;
  readonly args: readonly string[];
  readonly options: CommandOptions;
  /** The scheduler that the options name. It is closed when the command ends. */
  target(expectations?: TargetOptions): Promise<CommandTarget>;
}

/** Options by their names; those that were not given are undefined. */
export type CommandOptions = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** An option that takes a text. */
export function textOption({ options }: CommandCall, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** An option that takes texts, each given by itself. */
export function textsOption({ options }: CommandCall, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

/** An option that is given or not. */
export function hasOption({ options }: CommandCall, name: string): boolean {
  return options[name] === true;
}

/** Refuses options that a call does not look at. @param where what has them @throws {CliError} */
export function refuseOptions(call: CommandCall, names: readonly string[], why: string, where?: string): void {
  const given = names.find((name) => call.options[name] !== undefined);
  if (given === undefined) return;
  const flag = `--${given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new CliError(`${flag} does not go with ${why}${where === undefined ? "" : `; ${where}`}`);
}
