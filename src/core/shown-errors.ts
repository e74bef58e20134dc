import { isErrorLike } from "./error-like.ts";
import { EscapementError } from "./errors.ts";

/** How deep the causes and the errors of an error are looked at. */
const DEPTH_MAX = 8;

/** What the library's own lines of the log show of a thrown value: its stack begins with its message, and has no frames
 *  of the library, by which no reader finds anything of theirs. What cannot be read or written stays as it is. */
export function withoutOurFrames(thrown: unknown, depth = 0): unknown {
  try {
    if (!isErrorLike(thrown) || depth > DEPTH_MAX) return thrown;
    const stack = typeof thrown.stack === "string" ? shownStack(thrown, thrown.stack) : undefined;
    if (stack !== undefined && stack !== thrown.stack) thrown.stack = stack;
    withoutOurFrames(thrown.cause, depth + 1);
    const errors: unknown = Reflect.get(thrown, "errors");
    if (Array.isArray(errors)) for (const error of errors) withoutOurFrames(error, depth + 1);
  } catch {
    // It is frozen, or throws where it is read: shown as it is.
  }
  return thrown;
}

function shownStack(error: Error, stack: string): string {
  const lines = stack.split("\n");
  const first = lines.findIndex((line) => FRAME.test(line));
  // Firefox and Safari write frames alone, and their consoles write the message before them.
  if (first === 0) return stack;
  const written = first === -1 ? stack : lines.slice(0, first).join("\n");
  // A message that was given later is not in the stack.
  const head = written.includes(error.message) ? written : `${error.name}: ${error.message}`;
  const frames = first === -1 ? [] : lines.slice(first);
  // Without what the library called of the runtime, on the way to a frame of its own.
  const theirs = frames.filter((_, at) => !isOurFrame(frames.slice(at).find((one) => !RUNTIME.test(one)) ?? ""));
  // An error that nobody threw on purpose and that is nobody else's is a fault of the library: its frames find it.
  const shown = theirs.length === 0 && !(error instanceof EscapementError) ? frames : theirs;
  return [head, ...shown].join("\n");
}

const FRAME = /^\s*at /;

const RUNTIME = /\((?:node:|ext:|<anonymous>)|at (?:node:|ext:)/;

/** Whether a line of a stack is in a file of the library, or in one of the polyfill. */
export function isOurFrame(frame: string): boolean {
  return /[\\/]node_modules[\\/]temporal-polyfill[\\/]/.test(frame) || (OURS !== null && frame.includes(OURS));
}

/** The folder of the library as frames name it; null in a bundle, where nobody can tell frames of the library from
 *  those of the program. Found by a stack, because not every bundle has `import.meta`. */
const OURS: string | null = folderOf(new Error().stack ?? "");

function folderOf(stack: string): string | null {
  return (
    /(?:\(|at |@)((?:[^()\n]*[\\/])(?:dist[\\/]shared|src[\\/]core)[\\/])[^\\/\n]*:\d+:\d+/
      .exec(stack)?.[1]
      ?.replace(/(?:shared|core)[\\/]$/, "") ?? null
  );
}
