import type { RateLimit } from "../../src/records/policies.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import type { TaskSettings } from "../../src/scheduler/options/options.ts";
import { Random } from "./random.ts";

/** What a run has of flow control. */
export interface Flow {
  /** Of the tasks, by their places. */
  readonly limits: readonly FlowLimits[];
  readonly hasPauses: boolean;
  readonly hasWindows: boolean;
  readonly hasChains: boolean;
  /** Whether limits change while jobs wait. */
  readonly changesLimits: boolean;
}

/** The flow control of one task. */
export interface FlowLimits {
  /** Whether jobs get keys from their payload. */
  readonly hasKeys: boolean;
  readonly maxRunningPerKey: number | null;
  readonly rateLimit: RateLimit | null;
  readonly fair: boolean;
}

export const NO_LIMITS: FlowLimits = { hasKeys: false, maxRunningPerKey: null, rateLimit: null, fair: false };
const TASKS_MAX = 4;
const KEYS = 3;
/** How many of the runs have flow control. */
const SHARE = 0.5;

/** Which flow control a seed gets; null for none. It draws from a source of its own, so that the other runs are as
 *  they would be if there were none. */
export function drawFlow(seed: number): { readonly flow: Flow; readonly random: Random } | null {
  const random = new Random(seed + 0x464c_4f57);
  if (!random.chance(SHARE)) return null;
  const limits = Array.from({ length: TASKS_MAX }, () => drawLimits(random));
  const flow = {
    limits,
    hasPauses: random.chance(0.4),
    hasWindows: random.chance(0.5),
    hasChains: random.chance(0.5),
    changesLimits: random.chance(0.3),
  };
  return { flow, random };
}

export function drawLimits(random: Random): FlowLimits {
  const kind = random.pick(["none", "none", "keys", "rate", "fair", "all"] as const);
  if (kind === "none") return NO_LIMITS;
  const limit = random.int(1, 6);
  const perMs = random.pick([400, 1000, 3000]);
  return {
    hasKeys: kind !== "rate" || random.chance(0.5),
    maxRunningPerKey: kind === "keys" || kind === "all" ? random.pick([1, 1, 2, 3]) : null,
    rateLimit: kind === "rate" || kind === "all" ? { limit, perMs, burst: random.pick([1, 1, 2, 5]) } : null,
    fair: kind === "fair" || (kind === "all" && random.chance(0.5)),
  };
}

/** As programs write it. */
export function settingsOf({ hasKeys, maxRunningPerKey, rateLimit, fair }: FlowLimits): TaskSettings {
  return {
    ...(hasKeys ? { concurrencyKey: keyOf } : {}),
    ...(maxRunningPerKey === null ? {} : { maxRunningPerKey }),
    ...(fair ? { fair } : {}),
    ...(rateLimit === null
      ? {}
      : { rateLimit: { limit: rateLimit.limit, per: { milliseconds: rateLimit.perMs }, burst: rateLimit.burst } }),
  };
}

/** As stores keep it. */
export function recordOf({ maxRunningPerKey, rateLimit, fair }: FlowLimits): Partial<TaskRecord> {
  return {
    ...(maxRunningPerKey === null ? {} : { maxRunningPerKey }),
    ...(rateLimit === null ? {} : { rateLimit }),
    ...(fair ? { fair } : {}),
  };
}

/** Some payloads have no key. */
function keyOf(payload: unknown): string | null {
  const number =
    typeof payload === "object" ? ((payload as { schedule?: number } | null)?.schedule ?? 0) : Number(payload);
  return number % 4 === KEYS ? null : nameOfKey(number % 4);
}

export function drawKey(random: Random): string {
  return nameOfKey(random.int(0, KEYS - 1));
}

function nameOfKey(index: number): string {
  return `key ${index}`;
}
