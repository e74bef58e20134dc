/** What a command ended with. */
export const EXIT: Readonly<Record<"fine" | "found" | "usage" | "unreachable" | "interrupted", number>> = Object.freeze(
  {
    /** It did what it was asked to. */
    fine: 0,
    /** It found something: a lint, an unhealthy scheduler, a schedule that is not there. */
    found: 1,
    /** It was called in a wrong way, or was given text that it cannot read. */
    usage: 2,
    /** The store, or the router, cannot be reached. */
    unreachable: 3,
    interrupted: 130,
  },
);

/** Why a command ends, in words for the person who called it. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;
  /** More lines: what to do about it, or the text with a caret below. */
  readonly lines: readonly string[];
  readonly code: string;

  constructor(message: string, facts: { exitCode?: number; lines?: readonly string[]; code?: string } = {}) {
    super(message);
    this.exitCode = facts.exitCode ?? EXIT.usage;
    this.lines = facts.lines ?? [];
    this.code = facts.code ?? "usage";
  }
}

/** Codes of errors that say that something is not there, or is not as it was expected. */
const FOUND =
  /Lookup$|Lost$|^(conflictingId|revisionConflict|schedulerState|notFound|storeRefused|jobCancelled|transfer)$/;

/** The exit code of an error. Errors are told by their codes, because a program brings classes of its own. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CliError) return error.exitCode;
  const code = codeOf(error);
  if (code === "storeUnavailable") return EXIT.unreachable;
  if (code === null || FOUND.test(code)) return EXIT.found;
  return EXIT.usage;
}

/** The `code` of an error; null for none. */
export function codeOf(error: unknown): string | null {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" ? code : null;
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
