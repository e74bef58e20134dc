import type { Clock } from "../core/clock.ts";

/** What a command has to do with its surroundings. A test gives its own. */
export interface CliIo {
  /** Writes to the standard output. */
  write(text: string): void;
  /** Resolves when the standard output has room for more. */
  drained(): Promise<void>;
  /** Writes to the standard error. */
  writeError(text: string): void;
  /** The pieces of the standard input. */
  readInput(): AsyncIterable<Uint8Array>;
  /** Whether the standard output is a terminal, and how wide it is. */
  readonly isTerminal: boolean;
  /** Whether the standard error is a terminal. */
  readonly isErrorTerminal: boolean;
  readonly columns: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  readonly signals: CliSignals;
}

/** What asks a command to end. */
export interface CliSignals {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly first: AbortSignal;
  /** Aborted by the second one: whatever still runs is to end at once. */
  readonly second: AbortSignal;
  /** Whether a SIGINT came. */
  readonly isInterrupted: boolean;
  /** Calls a function at each SIGHUP. @returns what ends that */
  onHangUp(listener: () => void): () => void;
}
