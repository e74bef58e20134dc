import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CliIo } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

/** What a call of the command line did. */
export interface Called {
  readonly code: number;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

export interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The width of the terminal. Default: no terminal. */
  readonly columns?: number;
  /** Whether the standard error is a terminal, though the output is none. Default: false. */
  readonly errorTerminal?: boolean;
  readonly input?: string;
  readonly cwd?: string;
  readonly now?: string;
  readonly clock?: CliIo["clock"];
  readonly signals?: CliIo["signals"];
  /** Gets what is printed as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** The signals of a call that nothing ends. */
function noSignals(): CliIo["signals"] {
  const never = new AbortController().signal;
  return { first: never, second: never, isInterrupted: false, onHangUp: () => () => {} };
}

/** Calls the command line in this process, at 2027-01-01T00:00:00Z unless told otherwise. */
export async function call(argv: readonly string[], options: CallOptions = {}): Promise<Called> {
  let out = "";
  let err = "";
  const onText = (text: string, isError: boolean): void => {
    if (isError) err += text;
    else out += text;
    options.onOutput?.(text);
  };
  const code = await main(argv, ioWith(options, onText));
  return { code, out: linesOf(out), err: linesOf(err) };
}

/** The surroundings of a call. */
export function ioWith(
  options: CallOptions,
  onText: (text: string, isError: boolean) => void = (text) => options.onOutput?.(text),
): CliIo {
  return {
    write: (text) => onText(text, false),
    drained: async () => {},
    writeError: (text) => onText(text, true),
    readInput: async function* () {
      yield new TextEncoder().encode(options.input ?? "");
    },
    isTerminal: options.columns !== undefined,
    isErrorTerminal: options.columns !== undefined || options.errorTerminal === true,
    columns: options.columns ?? 80,
    env: options.env ?? {},
    cwd: options.cwd ?? tmpdir(),
    clock: options.clock ?? new VirtualClock(options.now ?? "2027-01-01T00:00:00Z"),
    signals: options.signals ?? noSignals(),
  };
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** A folder with files, which is removed at the end. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "escapement-cli-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A call that goes on until it is told to stop. */
export class Running {
  readonly clock: VirtualClock;
  readonly ended: Promise<Called>;
  output = "";
  readonly #first = new AbortController();
  readonly #second = new AbortController();
  #hangUp = (): void => {};
  #onOutput = (): void => {};

  constructor(argv: readonly string[], options: CallOptions = {}) {
    this.clock = new VirtualClock(options.now ?? "2027-01-01T00:00:30Z");
    const [first, second] = [this.#first.signal, this.#second.signal];
    const onHangUp = (listener: () => void) => {
      this.#hangUp = listener;
      return () => {};
    };
    this.ended = call(argv, {
      ...{ clock: this.clock, ...options, signals: { first, second, isInterrupted: false, onHangUp } },
      onOutput: (text) => {
        this.output += text;
        this.#onOutput();
      },
    });
  }

  /** Waits until it has printed what matches, and forgets what it printed up to then. */
  async prints(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) {
        this.output = this.output.slice(match.index + match[0].length);
        return match;
      }
      const ended = await Promise.race([
        this.ended,
        new Promise<null>((resolve) => {
          this.#onOutput = () => resolve(null);
        }),
      ]);
      if (ended !== null)
        throw new Error(`it ended with ${ended.code}, and nothing matched ${pattern}:\n${this.output}`);
    }
  }

  hangUp(): void {
    this.#hangUp();
  }

  /** The first SIGTERM, and the next ones. */
  terminate(): void {
    (this.#first.signal.aborted ? this.#second : this.#first).abort();
  }

  /** Stops it as SIGTERM does. */
  async stop(): Promise<Called> {
    this.terminate();
    return this.ended;
  }
}
