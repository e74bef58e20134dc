import { type JobContext, NonRetryableError, type Scheduler } from "../../src/mod.ts";
import { type LedgerEntry, writeLedger } from "./ledger.ts";
import { KEY_LIMIT, LEASE_MS, RATE } from "./settings.ts";

/** Most jobs of the task "limited" that may run at once. */
export const LIMIT = 2;

/** Payload of jobs that the controller adds. */
interface NamedPayload {
  readonly name: string;
  readonly key?: string;
  /** Whether the job is to fail for good. */
  readonly fails?: boolean;
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
        key: job.concurrencyKey,
        acquiredMs: (job.acquiredUntil?.epochMilliseconds ?? 0) - LEASE_MS,
        fence,
        worker: scheduler.identity,
      };
      const write = (event: LedgerEntry["event"]): void => writeLedger(ledger, { event, atMs: Date.now(), ...entry });
      write("start");
      await pause(ms);
      signal.throwIfAborted();
      write(payload?.fails === true ? "failed" : "end");
      if (payload?.fails === true) throw new NonRetryableError("as it was told");
    };
  // A run that is lost again and again must come through in the end, as the promise has no bound but this one.
  const common = {
    maxRecoveries: 1000,
    retry: { maxAttempts: 1000, backoff: { initial: { milliseconds: 10 }, max: { seconds: 1 } } },
  };
  scheduler.task("quick", { ...common, maxRunningJobs: null }, handler(1));
  scheduler.task("slow", { ...common, maxRunningJobs: null }, handler(150));
  scheduler.task("limited", { ...common, maxRunningJobs: LIMIT }, handler(20));
  const concurrencyKey = (payload: NamedPayload | undefined): string | null => payload?.key ?? null;
  scheduler.task("keyed", { ...common, concurrencyKey, maxRunningPerKey: KEY_LIMIT, fair: true }, handler(20));
  const { limit, perMs, burst } = RATE;
  const rateLimit = { limit, per: { milliseconds: perMs }, burst };
  scheduler.task("rated", { ...common, maxRunningJobs: null, concurrencyKey, rateLimit }, handler(1));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
