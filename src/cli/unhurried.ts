import type { CommandCall } from "./command.ts";

/** So many steps are taken in one go. */
const STEPS_MAX = 200;

/** Takes the steps of a long computation, and lets signals come in between. @param total how many steps there are */
export async function unhurried<T>(
  { io, out }: CommandCall,
  steps: Generator<void, T>,
  total: number,
  what: string,
): Promise<T> {
  const progress = out.progress(what);
  for (let done = 1; ; done++) {
    const step = steps.next();
    if (step.done === true) {
      progress.end();
      return step.value;
    }
    if (done % STEPS_MAX !== 0) continue;
    progress.at(Math.min(done, total), total);
    await io.clock.yield();
    io.signals.first.throwIfAborted();
  }
}
