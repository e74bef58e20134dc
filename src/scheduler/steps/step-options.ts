import { toDurationMs } from "../../core/duration.ts";
import { isPlain, mustBe, optionError } from "../../core/option-errors.ts";
import { didYouMean } from "../../core/suggest.ts";
import type { RetryPolicy } from "../../records/policies.ts";
import type { StepOptions } from "./step-types.ts";

export interface CheckedStepOptions {
  readonly retry: RetryPolicy;
  readonly timeoutMs: number | null;
}

const NAMES = ["retry", "timeout"];
const RETRY_NAMES = ["maxAttempts", "backoff"];
const BACKOFF_NAMES = ["initial", "factor", "max", "jitter"];

/** Checks the options of a step by hand, because the schemas of all options are too large for a worker's start.
 *  @throws {OptionsError} */
export function checkedStepOptions(options: StepOptions, where: string): CheckedStepOptions {
  const { retry = {}, timeout } = known(options, NAMES, where, "");
  const { maxAttempts = 1, backoff = {} } = known(retry, RETRY_NAMES, where, "retry");
  const {
    initial = { seconds: 1 },
    factor = 2,
    max = { hours: 1 },
    jitter = "full",
  } = known(backoff, BACKOFF_NAMES, where, "retry.backoff");
  const check = (isRight: boolean, name: string, rule: string, value: unknown): void => {
    if (!isRight) throw optionError(where, name, mustBe(rule, value));
  };
  check(
    Number.isSafeInteger(maxAttempts) && maxAttempts > 0,
    "retry.maxAttempts",
    "a whole number from 1",
    maxAttempts,
  );
  check(factor >= 1 && Number.isFinite(factor), "retry.backoff.factor", "a number from 1", factor);
  check(jitter === "full" || jitter === "none", "retry.backoff.jitter", '"full" or "none"', jitter);
  const initialMs = toDurationMs(initial, "retry.backoff.initial");
  const maxMs = toDurationMs(max, "retry.backoff.max");
  const timeoutMs = timeout === undefined ? null : toDurationMs(timeout, "timeout");
  check(timeoutMs !== 0, "timeout", "longer than zero", timeout);
  return { retry: { maxAttempts, backoff: { initialMs, factor, maxMs, jitter } }, timeoutMs };
}

function known<T extends object>(value: T, names: readonly string[], where: string, path: string): T {
  if (!isPlain(value)) throw optionError(where, path === "" ? "options" : path, mustBe("an object of options", value));
  for (const name of Object.keys(value)) {
    if (names.includes(name)) continue;
    const advice = didYouMean(name, names, `there are ${names.join(" and ")}`);
    throw optionError(where, path === "" ? name : `${path}.${name}`, `is unknown; ${advice}`);
  }
  return value;
}
