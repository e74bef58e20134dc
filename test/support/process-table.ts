import { readFileSync } from "node:fs";
import process from "node:process";
import { HANG_MS } from "./hang.ts";

/** Whether a process runs. One that has ended and that nobody has asked for its exit code does not. */
export function isRunning(pid: number): boolean {
  try {
    if (process.platform === "linux") return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until none of these processes runs. */
export async function ends(pids: readonly number[]): Promise<void> {
  const deadline = AbortSignal.timeout(HANG_MS);
  while (pids.some(isRunning)) {
    if (deadline.aborted) throw new Error(`of ${pids}, ${pids.filter(isRunning)} still run after ${HANG_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
