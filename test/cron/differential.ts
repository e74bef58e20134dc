import fc from "fast-check";
import { CompiledCron } from "../../src/cron/compiled-cron.ts";
import { kernel } from "../../src/cron/kernel.ts";
import { cases } from "./arbitraries.ts";
import { nextOfEach } from "./next-of-each.ts";
import { ORACLE_DAYS_MAX, oracleNext, oraclePrevious } from "./oracle.ts";

const INSTANTS_PER_SPEC = 4;
/** Nearer answers than this the oracle never misses. */
const HORIZON_MS = (ORACLE_DAYS_MAX - 3) * 86_400_000;

/** Compares the engine with its twin over so many (spec, instant) pairs. Throws with a minimal counterexample. */
export function compareWithOracle(count: number, seed: number): void {
  const property = fc.property(cases(INSTANTS_PER_SPEC), ({ spec, instants }) => {
    const cron = new CompiledCron(spec);
    const answers = new Map<number, number | null>();
    for (const instant of instants) {
      const next = oracleNext(spec, instant);
      answers.set(instant, cron.nextMs(instant));
      expectSame("next", instant, answers.get(instant) ?? null, next);
      expectSame("previous", instant, cron.previousMs(instant), oraclePrevious(spec, instant));
      if (next !== null && !cron.matches(next)) throw new Error(`${next} is the next fire time, but does not match`);
      const whole = Math.floor(instant / 1000) * 1000;
      const isFireTime = cron.nextMs(whole - 1) === whole;
      if (cron.matches(whole) !== isFireTime) throw new Error(`matches(${whole}) is not ${isFireTime}`);
    }
    // Once more, now that days are looked up in a bitmap, and from other instants to other instants.
    kernel.buildDays(cron.address);
    const reversed = Float64Array.from(answers.keys()).reverse();
    for (const [index, found] of nextOfEach(cron, reversed).entries()) {
      const instant = reversed[index] ?? 0;
      const before = answers.get(instant) ?? null;
      const again = [cron.nextMs(instant), Number.isNaN(found) ? null : found];
      if (again.some((atMs) => atMs !== before)) throw new Error(`next(${instant}) was ${before}, and then ${again}`);
    }
  });
  fc.assert(property, { numRuns: Math.ceil(count / INSTANTS_PER_SPEC), seed });
}

function expectSame(what: string, instant: number, actual: number | null, expected: number | null): void {
  if (actual === expected) return;
  const isBeyondOracle = expected === null && (actual === null || Math.abs(actual - instant) > HORIZON_MS);
  if (!isBeyondOracle) throw new Error(`${what}(${instant}) is ${actual}, the oracle says ${expected}`);
}

/** A number from the environment, where there is one: `ORACLE_CASES`, `ORACLE_SEED`. */
export function fromEnvironment(name: string, otherwise: number): number {
  const host: { process?: { env?: Record<string, string | undefined> } } = globalThis as never;
  const text = host.process?.env?.[name];
  return text === undefined || text === "" ? otherwise : Number(text);
}
