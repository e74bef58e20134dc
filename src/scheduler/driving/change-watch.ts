import type { Environment } from "../environment.ts";
import type { LeaseKeeper } from "../running/lease-keeper.ts";
import { CHANGE_POLL_MS } from "./limits.ts";
import type { Loop } from "./loop.ts";

/** Makes a waiting loop look soon after somebody else has changed the store, until the signal is aborted, and passes on
 *  that somebody asked to cancel a job that runs here. Does nothing on a store or a clock that has no means for it. */
export function watchChanges(
  { store, clock, identity }: Environment,
  loop: Pick<Loop, "isWaiting" | "lookBy">,
  keeper: Pick<LeaseKeeper, "runsJobs" | "cancellationHeard">,
  signal: AbortSignal,
): void {
  if (store.getDataVersion === undefined || clock.every === undefined) return;
  let known: number | null = null;
  let isAsking = false;
  const ask = async (): Promise<void> => {
    isAsking = true;
    try {
      const version = (await store.getDataVersion?.()) ?? null;
      if (version === null) stop();
      const hasChanged = version !== known;
      known = version;
      if (!hasChanged || signal.aborted) return;
      loop.lookBy();
      if (!keeper.runsJobs) return;
      for (const jobId of (await store.getCancelRequests?.(identity)) ?? []) keeper.cancellationHeard(jobId);
    } catch {
      // The loop's look tells of the outage.
      if (!signal.aborted) loop.lookBy();
    } finally {
      isAsking = false;
    }
  };
  const stop = clock.every(CHANGE_POLL_MS, () => {
    if (!isAsking && loop.isWaiting) void ask();
  });
  signal.addEventListener("abort", stop, { once: true });
}
