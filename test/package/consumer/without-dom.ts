import { type JobContext, Scheduler } from "escapement";

export async function main(): Promise<boolean> {
  await using scheduler = new Scheduler();
  const task = scheduler.task("stops", (_none, { signal }: JobContext) => {
    signal.addEventListener("abort", () => {}, { once: true });
    signal.throwIfAborted();
    return signal.aborted;
  });
  return await scheduler.runJob(task);
}
