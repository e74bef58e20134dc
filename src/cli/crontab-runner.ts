import { existsSync } from "node:fs";
import { sleepFor } from "../core/clock.ts";
import type { JobContext, RunOverlapPolicy, Scheduler, Trigger } from "../mod.ts";
import { type CrontabEntry, parseCrontab, readExpression } from "./engine.ts";
import { CliError, EXIT, messageOf } from "./failure.ts";
import { isStandardInput, readText } from "./files.ts";
import type { CliIo } from "./io.ts";
import type { ChildLogger } from "./log.ts";
import { runShell } from "./shell.ts";

/** What a crontab is run with. */
export interface CrontabRunnerOptions {
  readonly path: string;
  readonly io: CliIo;
  readonly log: ChildLogger;
  readonly overlap: RunOverlapPolicy;
  /** The name that was given, with which the ids of its lines begin; null for none. */
  readonly name: string | null;
  /** Tells the schedules of this crontab from others of a store: its name, or its whole path. */
  readonly label: string;
  readonly timeZone: string;
  readonly system: boolean | undefined;
}

/** An entry that can be run; without a trigger, it runs at the start. */
interface CrontabLine {
  readonly entry: CrontabEntry;
  readonly trigger: Trigger | null;
}

/** The lines of a file, by the id of the task. */
type CrontabLines = ReadonlyMap<string, CrontabLine>;

const LABEL = "crontab";
/** What is kept of the output of each run. */
const KEPT = { lines: 1000, bytes: 65_536 };
/** Longest name of a schedule that is made of a command, because ids are shorter than commands may be. */
const NAME_LENGTH_MAX = 200;
const PAGE_LENGTH = 1000;
/** What the environment of a command does not have, because it is about this program. */
const OWN_VARIABLES = ["ESCAPEMENT_TOKEN", "LIBSQL_AUTH_TOKEN", "TURSO_AUTH_TOKEN"];

/**
 * The commands of a crontab as tasks of a scheduler. A task has the id that follows from its line, and its handler runs
 * the command of that line as the file has it: no payload, nothing of the store and nothing of a request is a part of
 * what runs.
 */
export class CrontabRunner {
  readonly #options: CrontabRunnerOptions;
  #lines: CrontabLines = new Map();
  readonly #killing = new AbortController();
  #reloads: Promise<void> = Promise.resolve();
  #isReloadAhead = false;

  constructor(options: CrontabRunnerOptions) {
    this.#options = options;
  }

  /** Reads the file. @throws {CliError} with everything that is wrong */
  async read(): Promise<CrontabLines> {
    const { io, path } = this.#options;
    return this.#linesOf(await readText(io, path));
  }

  #linesOf(text: string): CrontabLines {
    const { path, timeZone, system, name } = this.#options;
    const { entries, problems } = parseCrontab(text, { system });
    const idOf = ({ id }: CrontabEntry): string => (name === null ? id : `${name}/${id}`);
    const wrong = problems
      .filter(({ severity }) => severity === "error")
      .map(({ line, text, message }) => `  ${path}:${line}: ${text}: ${message}`);
    const lines = new Map<string, CrontabLine>();
    for (const entry of entries) {
      if (entry.expression.toLowerCase() === "@reboot") {
        lines.set(idOf(entry), { entry, trigger: null });
        continue;
      }
      const { trigger, error } = readExpression(entry.expression, entry.timeZone ?? timeZone, entry.id);
      if (trigger === null) wrong.push(`  ${path}:${entry.line}: ${entry.expression}: ${error.message}`);
      else lines.set(idOf(entry), { entry, trigger });
    }
    if (wrong.length > 0) throw new CliError(`${path} cannot be read:`, { lines: wrong, code: "cronSyntax" });
    return lines;
  }

  /** Gives a scheduler the tasks and the schedules of lines, and removes those of lines that are gone.
   *  @throws {CliError} when a line is one of another crontab too; then nothing changes
   *  @throws what the store throws; then the lines that there were go on, and so do the new ones that it has */
  async install(scheduler: Scheduler, lines: CrontabLines): Promise<void> {
    const { label, overlap, log, path } = this.#options;
    const labels = { [LABEL]: label };
    await this.#assertOwn(scheduler, lines);
    // Until the store has done all of it, and if it fails halfway, lines of both files come due.
    this.#lines = new Map([...lines, ...this.#lines]);
    for (const id of lines.keys()) {
      scheduler.task(id, { keepLogs: KEPT, maxRunningJobs: RUNNING_PER_LINE, labels }, (_, context) =>
        this.#run(id, context),
      );
    }
    const scheduled = [...lines].flatMap(([id, { entry, trigger }]) => {
      const name = entry.command.slice(0, NAME_LENGTH_MAX).replaceAll("\0", "").toWellFormed();
      return trigger === null
        ? []
        : [{ task: id, id, trigger, name, overlap, labels, conflictPolicy: "replace" as const }];
    });
    await scheduler.addSchedules(scheduled);
    for await (const { id } of scheduler.getSchedules({ labels })) {
      if ((lines.get(id)?.trigger ?? null) === null) await scheduler.removeSchedule(id);
    }
    this.#lines = lines;
    const users = [...lines.values()].flatMap(({ entry }) => entry.user ?? []);
    if (users.length > 0) log.warn("the users of the lines are ignored: commands run as the user of this process");
    log.info(`${path} has ${lines.size} ${lines.size === 1 ? "line" : "lines"}`);
  }

  /** Two crontabs may have the same command, whose schedule is then the same one. A file that is gone was moved. */
  async #assertOwn(scheduler: Scheduler, lines: CrontabLines): Promise<void> {
    const { label, path } = this.#options;
    for await (const { id, labels } of scheduler.getSchedules({ limit: PAGE_LENGTH })) {
      const line = lines.get(id);
      const other = labels[LABEL];
      if (line === undefined || other === undefined || other === label) continue;
      if (other.startsWith("/") && !existsSync(other)) continue;
      const { line: number, command } = line.entry;
      throw new CliError(`${path}:${number}: the store has this command as a line of another crontab, ${other}`, {
        lines: [`  ${command}`, "  give one of the two crontabs a --name, with which the ids of its lines begin"],
        code: "conflictingId",
        exitCode: EXIT.found,
      });
    }
  }

  /**
   * Reads the file anew. If it cannot be read, the lines that there are go on. One reload comes after the other,
   * because an older one must not undo a newer one; one that has not begun serves all who ask meanwhile.
   */
  reload(scheduler: Scheduler): Promise<void> {
    if (!this.#isReloadAhead) {
      this.#isReloadAhead = true;
      this.#reloads = this.#reloads.then(() => {
        this.#isReloadAhead = false;
        return this.#readAnew(scheduler);
      });
    }
    return this.#reloads;
  }

  async #readAnew(scheduler: Scheduler): Promise<void> {
    const { io, log, path } = this.#options;
    if (isStandardInput(path)) {
      log.warn("the standard input cannot be read anew: the lines that there are go on");
      return;
    }
    try {
      const text = await readText(io, path);
      // The beginning of a command is another command, and the beginning of a crontab has fewer lines.
      if (!text.endsWith("\n")) throw new CliError("it ends within a line, as a file does while it is written");
      await this.install(scheduler, this.#linesOf(text));
    } catch (error) {
      const isRefused = error instanceof CliError;
      const problem = [messageOf(error), ...(isRefused ? error.lines : [])].join(" ");
      const what = isRefused ? "is not taken over" : "is not taken over, or in part";
      log.error(`${path} ${what}: the lines that there are go on, and the next SIGHUP tries it again: ${problem}`);
    }
  }

  /** Runs the lines with `@reboot`. */
  async reboot(scheduler: Scheduler): Promise<void> {
    for (const [id, { trigger }] of this.#lines) if (trigger === null) await scheduler.addJob(id);
  }

  /** Ends all commands that run. */
  killAll(): void {
    this.#killing.abort();
  }

  async #run(id: string, { logger, signal }: JobContext): Promise<void> {
    const line = this.#lines.get(id);
    if (line === undefined) throw new Error("the crontab has no such line any more");
    const { command, input, env } = line.entry;
    const { io } = this.#options;
    const own = Object.entries(io.env).filter(([name]) => !OWN_VARIABLES.includes(name));
    const { CRON_TZ: _, ...set } = env;
    const ending = AbortSignal.any([signal, this.#killing.signal]);
    const ended = await runShell(
      { command, input, shell: env.SHELL ?? "/bin/sh", cwd: io.cwd, env: { ...definedOf(own), ...set } },
      (text, channel) => logger[channel === "stdout" ? "info" : "warn"](text, { channel }),
      { signal: ending, sleep: (ms, until) => sleepFor(io.clock, ms, until) },
    );
    signal.throwIfAborted();
    if (ended !== 0)
      throw new Error(typeof ended === "number" ? `exit code ${ended}` : `ended by ${ended ?? "nobody"}`);
  }
}

/** `overlap` says how many runs of a line there are; a task has no other limit. */
const RUNNING_PER_LINE = 100;

function definedOf(entries: readonly (readonly [string, string | undefined])[]): Record<string, string> {
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}
