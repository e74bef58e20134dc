import type { Issue } from "../../core/errors.ts";
import type { CheckedJobOptions } from "./checked-options.ts";

/** What does not go together of the options that say when and how often a job is added. */
export function contradictions(options: CheckedJobOptions): Issue[] {
  const { debounce, throttle, uniqueForMs, idempotencyKey, runAt, delayMs, after, onParentFailure } = options;
  const issues: Issue[] = [];
  const refuse = (path: string, message: string): void => void issues.push({ path, message });
  if (delayMs !== undefined && runAt !== undefined) {
    refuse("delay", "cannot go together with runAt: delay counts from now, runAt is the instant itself; choose one");
  }
  if (debounce !== undefined) {
    const { waitMs, maxWaitMs } = debounce;
    if (maxWaitMs !== undefined && maxWaitMs < waitMs) {
      refuse("debounce.maxWait", `must be at least as long as wait, ${waitMs} ms; got ${maxWaitMs} ms`);
    }
    if (throttle !== undefined) {
      refuse("throttle", "cannot go together with debounce: debounce keeps the last of a burst, throttle the first");
    }
    for (const [name, value] of Object.entries({ runAt, delay: delayMs })) {
      if (value === undefined) continue;
      refuse(name, "cannot go together with debounce: the job runs debounce.wait after the last addition");
    }
    if (idempotencyKey !== undefined) {
      refuse("idempotencyKey", "cannot go together with debounce: debounce.key tells which additions make one job");
    }
  }
  if (debounce !== undefined && after !== undefined) {
    refuse("debounce", "cannot go together with after: a burst waits for time, not for other jobs");
  }
  if (onParentFailure !== undefined && after === undefined) {
    refuse(
      "onParentFailure",
      "goes with `after`, the jobs whose failure it is about; give { after } too, or leave it out",
    );
  }
  if (uniqueForMs !== undefined && throttle !== undefined) {
    refuse("uniqueFor", "cannot go together with throttle: each keeps later additions out for a time; choose one");
  } else if (uniqueForMs !== undefined && idempotencyKey === undefined && debounce !== undefined) {
    refuse("uniqueFor", "cannot go together with debounce: debounce keeps the last of a burst, uniqueFor the first");
  } else if (uniqueForMs !== undefined && idempotencyKey === undefined) {
    refuse(
      "uniqueFor",
      "needs an idempotencyKey: that key stays taken so long; write { idempotencyKey: ..., uniqueFor }",
    );
  }
  return issues;
}
