import type { JobContext, Scheduler } from "../../src/mod.ts";
import { writeLedger } from "./ledger.ts";

/** Most jobs of the task "limited" that may run at once. */
export const LIMIT = 2;

/** Payload of jobs that the controller adds. */
interface NamedPayload {
  readonly name: string;
}

/** The tasks of every process of a chaos run. Workers give a ledger; the controller, which runs nothing, gives null. */
export function registerTasks(scheduler: Scheduler, ledger: string | null): void {
  const handler =
    (ms: number) =>
    async (payload: NamedPayload | undefined, { job, fence, signal }: JobContext): Promise<void> => {
      if (ledger === null) throw new Error("the controller runs no jobs");
      const entry = {
        jobId: job.id,
        taskId: job.taskId,
        scheduleId: job.scheduleId,
        fireTime: job.fireTime?.epochMilliseconds ?? null,
        name: payload?.name ?? null,
        fence,
        worker: scheduler.identity,
      };
      writeLedger(ledger, { event: "start", ...entry });
      await pause(ms);
      signal.throwIfAborted();
      writeLedger(ledger, { event: "end", ...entry });
    };
  // A run that is lost again and again must come through in the end, as the promise has no bound but this one.
  const common = {
    maxRecoveries: 1000,
    retry: { maxAttempts: 1000, backoff: { initial: { milliseconds: 10 }, max: { seconds: 1 } } },
  };
  scheduler.task("quick", { ...common, maxRunningJobs: null }, handler(1));
  scheduler.task("slow", { ...common, maxRunningJobs: null }, handler(150));
  scheduler.task("limited", { ...common, maxRunningJobs: LIMIT }, handler(20));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
