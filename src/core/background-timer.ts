interface DenoTimers {
  readonly Deno?: { unrefTimer?(id: number): void };
}

/** Calls `run` about every `periodMs` milliseconds, until the returned function is called. Does not keep the process
 *  alive where the runtime has processes. */
export function startBackgroundTimer(periodMs: number, run: () => void): () => void {
  const handle: unknown = setInterval(run, periodMs);
  if (typeof handle === "number") (globalThis as DenoTimers).Deno?.unrefTimer?.(handle);
  else (handle as { unref?(): void }).unref?.();
  return () => clearInterval(handle as number);
}
