import { Command, CommanderError, Option } from "commander";
import { VERSION } from "../core/version.ts";
import type { CommandCall, CommandOptions, CommandSpec, CommandTarget } from "./command.ts";
import { CliError, codeOf, EXIT, exitCodeOf, messageOf } from "./failure.ts";
import type { CliIo } from "./io.ts";
import { Output, styled } from "./output.ts";
import { COMMANDS, SCHEDULER_OPTIONS } from "./specs.ts";
import { inCliWords } from "./words.ts";

interface Called {
  readonly spec: CommandSpec;
  readonly args: readonly string[];
  readonly options: CommandOptions;
}

/**
 * Runs the command line, and returns its exit code. Nothing throws.
 * @param argv the words after the name of the program
 */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  let called: Called | null = null;
  const program = programOf(io, (call) => {
    called = call;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
  }
  if (called === null) return EXIT.fine;
  const { spec, args, options } = called as Called;
  const out = new Output(io, options.json === true);
  const targets: Promise<CommandTarget>[] = [];
  const call: CommandCall = {
    ...{ io, out, args, options },
    async target(expectations) {
      const opening = import("./target.ts").then(({ openTarget }) => openTarget(call, expectations));
      targets.push(opening);
      return opening;
    },
  };
  const code = await carriedOut(spec, call);
  for (const opening of targets) await opening.then((target) => target.close()).catch(() => {});
  return io.signals.isInterrupted ? EXIT.interrupted : code;
}

async function carriedOut(spec: CommandSpec, call: CommandCall): Promise<number> {
  const { io, out } = call;
  try {
    const work = spec.load().then(({ run }) => run(call));
    const code = await (spec.handlesSignals === true ? work : Promise.race([work, aborted(io.signals.first)]));
    return code;
  } catch (error) {
    if (io.signals.first.aborted) return EXIT.fine;
    return told(error, out, spec);
  }
}

/** Resolves when a signal ends the command. */
function aborted(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(EXIT.fine);
    signal.addEventListener("abort", () => resolve(EXIT.fine), { once: true });
  });
}

function told(error: unknown, out: Output, { name, options = [] }: CommandSpec): number {
  const exitCode = exitCodeOf(error);
  const message = inCliWords(messageOf(error), { name, options: [...options, ...SCHEDULER_OPTIONS] });
  const lines = error instanceof CliError ? error.lines : [];
  if (out.isJson) {
    // A message that ends with a colon announces a list.
    const text = message.endsWith(":") ? [message, ...lines].join("\n") : message;
    out.json({ error: { code: codeOf(error) ?? "error", message: text } });
    return exitCode;
  }
  const [first = "", ...rest] = message.split("\n");
  out.error(styled("red", "error:"), ` ${first}`);
  for (const line of rest) out.error(line);
  for (const line of lines) out.errorLine(line);
  return exitCode;
}

function programOf(io: CliIo, onCall: (called: Called) => void): Command {
  const program = new Command("escapement")
    .description("Schedules, crontabs and jobs: before they run, and while they do.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .configureHelp({ subcommandTerm: termOf })
    .configureOutput({
      writeOut: (text) => io.write(text),
      writeErr: (text) => io.writeError(text),
      getOutHelpWidth: () => (io.isTerminal ? io.columns : 80),
      getErrHelpWidth: () => (io.isTerminal ? io.columns : 80),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(withPlaces(text)),
    })
    .exitOverride()
    .showSuggestionAfterError()
    .helpCommand("help [command]", "Tell what a command does.")
    .addHelpText("after", FOOTER);
  for (const spec of COMMANDS) addCommand(program, spec, onCall);
  return program;
}

/** Which commands have an option that the one which was called lacks. */
function withPlaces(text: string): string {
  const flag = /^error: unknown option '(--[\w-]+)/.exec(text)?.[1] ?? "";
  const names = COMMANDS.filter(({ options = [], on }) =>
    [...options, ...(on === "nothing" ? [] : SCHEDULER_OPTIONS)].some(([flags]) => flags.split(/[ ,]+/).includes(flag)),
  ).map(({ name }) => name);
  if (names.length === 0) return text;
  const more = names.length > NAMED_MAX ? ", ..." : "";
  return `error: unknown option '${flag}'; these commands have it: ${names.slice(0, NAMED_MAX).join(", ")}${more}\n`;
}

/** Most commands that an error names, so that it stays a line. */
const NAMED_MAX = 6;

/** A command and its arguments: that it has options goes without saying. */
function termOf(command: Command): string {
  const takes = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...takes].join(" ");
}

const FOOTER = `
Exit codes: 0 fine, 1 found something, 2 wrong usage or unreadable text,
3 store unreachable, 130 interrupted.`;

function addCommand(program: Command, spec: CommandSpec, onCall: (called: Called) => void): void {
  const { name, takes = "", summary, options = [], on, example } = spec;
  const command = program.command(`${name} ${takes}`.trim()).description(summary);
  for (const [flags, description] of options) command.addOption(optionOf(flags, description));
  if (on !== "nothing") {
    for (const [flags, description] of SCHEDULER_OPTIONS) command.addOption(new Option(flags, description));
  }
  command.option("--json", "print JSON").helpOption("-h, --help", "print this");
  command.showHelpAfterError(`  for example: ${example.split("\n", 1)}`);
  command.addHelpText("after", `\nExample:\n${example.replace(/^/gm, "  $ ")}`);
  command.action((...given: unknown[]) => {
    // Arguments come first, then the options, then the command itself.
    const args = given
      .slice(0, -2)
      .flat()
      .filter((word): word is string => typeof word === "string");
    onCall({ spec, args, options: command.opts() });
  });
}

function optionOf(flags: string, description: string): Option {
  const option = new Option(flags.replace("...", ""), description);
  return flags.includes("...")
    ? option.argParser((value: string, before: string[] = []) => [...before, value])
    : option;
}
