import type { OptionsError } from "../core/errors.ts";
import { listOf, mustBe, optionError } from "../core/option-errors.ts";
import { CompiledBatch } from "../cron/compiled-cron.ts";
import { CronTrigger, partsOf } from "./cron.ts";
import { FIRE_TIME_MS_MAX } from "./limits.ts";

/**
 * Many cron triggers asked together, for whom one by one is too slow: some 10 ns a trigger (bench/README.md).
 *
 * @example
 * const batch = new CronBatch([CronTrigger.fromCrontab("@hourly"), CronTrigger.fromCrontab("@daily")]);
 * batch.nextMs(Date.UTC(2030, 0, 1, 12)); // Float64Array [1893502800000, 1893542400000]
 */
export class CronBatch {
  readonly #batch: CompiledBatch;
  /** Nothing fires at or before these, nor after the ends; null where no trigger has a start or an end. */
  readonly #floors: Float64Array | null;
  readonly #ends: Float64Array | null;

  /** @param triggers in the order of the answers; the list is copied, and may be empty
   *  @throws {OptionsError} when it is no list, or holds something else than cron triggers */
  constructor(triggers: readonly CronTrigger[]) {
    const list = listOf(triggers, "CronBatch", "triggers");
    if (list === null) throw wrongOption("triggers", mustBe("a list of cron triggers", triggers));
    const parts = list.map((trigger: unknown, index) => {
      if (trigger instanceof CronTrigger) return partsOf(trigger);
      throw wrongOption(`triggers.${index}`, mustBe("a cron trigger", trigger));
    });
    this.#batch = new CompiledBatch(parts.map(({ compiled }) => compiled));
    const hasBounds = parts.some(({ floorMs, endMs }) => Number.isFinite(floorMs) || endMs < FIRE_TIME_MS_MAX);
    this.#floors = hasBounds ? Float64Array.from(parts, ({ floorMs }) => floorMs) : null;
    this.#ends = hasBounds ? Float64Array.from(parts, ({ endMs }) => endMs) : null;
  }

  /** How many triggers it holds. */
  get size(): number {
    return this.#batch.size;
  }

  /**
   * The first fire time of each trigger after one instant, or after one instant each.
   *
   * @param after epoch milliseconds: a number, or an array as long as the batch. The items of
   *   an array may be infinite
   * @param out receives the answers; as long as the batch. Default: a new array
   * @returns `out`: epoch milliseconds in the order of the triggers, `NaN` for those that never fire again (and those
   *   whose item in the array is `NaN`)
   * @throws {OptionsError} when `after` is neither, or no finite number, or an array has another length or type
   */
  nextMs(after: number | Float64Array, out: Float64Array = new Float64Array(this.size)): Float64Array {
    if (!Number.isFinite(after) && !(after instanceof Float64Array)) {
      throw wrongOption("after", mustBe("a finite number of epoch milliseconds or a Float64Array", after));
    }
    if (!(out instanceof Float64Array)) throw wrongOption("out", mustBe("a Float64Array", out));
    const floors = this.#floors;
    const ends = this.#ends;
    const isArray = typeof after !== "number";
    // What is wrong is passed on, to be refused.
    const isWrong = isArray ? after.length !== this.size : false;
    if (floors === null || ends === null || isWrong) return this.#batch.nextMs(after, out);
    this.#batch.nextMs(
      floors.map((floorMs, index) => Math.max(floorMs, isArray ? (after[index] ?? Number.NaN) : after)),
      out,
    );
    for (let index = 0; index < out.length; index++) {
      if ((out[index] ?? 0) > (ends[index] ?? 0)) out[index] = Number.NaN;
    }
    return out;
  }
}

function wrongOption(path: string, message: string): OptionsError {
  return optionError("CronBatch", path, message);
}
