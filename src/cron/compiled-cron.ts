import { OptionsError } from "../core/errors.ts";
import { BATCH_ITEMS, kernel, views } from "./kernel.ts";
import { latestTicket, oldestTicket, putSpec, reserveSpecs } from "./residency.ts";
import type { CronSpec } from "./spec.ts";
import { type ZoneTable, zoneTable } from "./zone.ts";

// The functions themselves: a property of the exports would be looked up on every call.
const { next, previous, matches } = kernel;

/**
 * A cron spec in the engine: answers in nanoseconds, all instants in epoch milliseconds.
 *
 * Fire times are whole seconds from 1970 to 9999 of the spec's wall clock (and not after the end of 9999 in UTC).
 * Instants to ask about may be fractional, negative or infinite; `NaN` throws an {@link OptionsError}. Many
 * triggers may share one object.
 *
 * @example
 * const cron = new CompiledCron(spec);
 * cron.nextMs(Date.UTC(2030, 0, 1)); // 1893484800000
 */
export class CompiledCron {
  readonly spec: CronSpec;
  readonly #zone: ZoneTable;
  /** Where the spec lies in linear memory, as long as its ticket is valid. */
  #address = 0;
  #ticket = -1;

  /** @throws {OptionsError} when the spec's time zone is unknown */
  constructor(spec: CronSpec) {
    this.spec = spec;
    this.#zone = zoneTable(spec.timeZone);
    this.#put();
  }

  /** Where the spec lies in linear memory, until the next spec is put there. For this folder and its tests. */
  get address(): number {
    return this.#ticket < oldestTicket ? this.#put() : this.#address;
  }

  /** Says how long the address is valid: as long as no later ticket is the oldest. For this folder. */
  get ticket(): number {
    return this.#ticket;
  }

  #put(): number {
    this.#address = putSpec(this.spec, this.#zone.address);
    this.#ticket = latestTicket();
    return this.#address;
  }

  /** Whether any date of 1970-9999 matches, for example `false` for 30 February. The search ends after 400 years,
   *  because then the calendar repeats. */
  get canEverMatch(): boolean {
    return kernel.canEverMatch(this.address) !== 0;
  }

  /** The first fire time strictly later than `afterMs`, or null. */
  nextMs(afterMs: number): number | null {
    const found = next(this.#ticket < oldestTicket ? this.#put() : this.#address, afterMs);
    // Finite, in one comparison: a finite number minus itself is 0, while NaN and infinities give NaN.
    return found - found === 0 ? found : this.#retry(next, afterMs, found);
  }

  /** The last fire time strictly earlier than `beforeMs`, or null. */
  previousMs(beforeMs: number): number | null {
    const found = previous(this.#ticket < oldestTicket ? this.#put() : this.#address, beforeMs);
    return found - found === 0 ? found : this.#retry(previous, beforeMs, found);
  }

  /** Whether `ms` is a fire time. */
  matches(ms: number): boolean {
    for (;;) {
      const answer = matches(this.address, ms);
      if (answer < 2) {
        assertInstant(ms, "instant");
        return answer === 1;
      }
      this.#zone.extend(answer === 2, ms / 1000);
    }
  }

  /** The fire times in [fromMs, untilMs], in order, at most `limit`. */
  expand(fromMs: number, untilMs: number, limit: number): Float64Array {
    assertLimit(limit);
    let out = new Float64Array(Math.min(limit, BATCH_ITEMS));
    let count = this.expandInto(out, fromMs, untilMs);
    while (count === out.length && count < limit) {
      const longer = new Float64Array(Math.min(limit, out.length * 2));
      longer.set(out);
      count += this.expandInto(longer.subarray(count), (longer[count - 1] ?? 0) + 1, untilMs);
      out = longer;
    }
    return count === out.length ? out : out.slice(0, count);
  }

  /** Like {@link expand}, but writes into the caller's array until that is full. Returns the number of fire times. */
  expandInto(out: Float64Array, fromMs: number, untilMs: number): number {
    assertInstant(fromMs, "from");
    assertInstant(untilMs, "until");
    let count = 0;
    let from = fromMs;
    while (count < out.length) {
      const wanted = Math.min(out.length - count, BATCH_ITEMS);
      const found = kernel.expand(this.address, from, untilMs, wanted);
      out.set(found === BATCH_ITEMS ? views().output : views().output.subarray(0, found), count);
      count += found;
      if (found < wanted && !this.#extendBeyond(from)) break;
      from = kernel.reachedMs();
    }
    return count;
  }

  /** How many fire times lie in [fromMs, untilMs]. Costs a few steps per clock change, not per fire time. */
  count(fromMs: number, untilMs: number): number {
    assertInstant(fromMs, "from");
    assertInstant(untilMs, "until");
    let total = kernel.count(this.address, fromMs, untilMs);
    while (this.#extendBeyond(fromMs)) total += kernel.count(this.address, kernel.reachedMs(), untilMs);
    return total;
  }

  // Called when the kernel's answer was not finite: NaN means that nothing fires any more, and an infinity means that
  // the zone's table ended before the search did. Then the table is extended, and the search repeated.
  #retry(search: typeof next, instantMs: number, answer: number): number | null {
    assertInstant(instantMs, "instant");
    let found = answer;
    while (found - found !== 0) {
      if (Number.isNaN(found)) return null;
      this.#zone.extend(found > 0, instantMs / 1000);
      found = search(this.address, instantMs);
    }
    return found;
  }

  #extendBeyond(fromMs: number): boolean {
    const beyond = kernel.beyondTable();
    if (beyond !== 0) this.#zone.extend(beyond > 0, fromMs / 1000);
    return beyond !== 0;
  }
}

/**
 * Many specs that are asked together: the fastest way to ask about many schedules at once.
 *
 * @example
 * new CompiledBatch([hourly, daily]).nextMs(Date.UTC(2030, 0, 1)); // Float64Array of two fire times
 */
export class CompiledBatch {
  readonly #crons: readonly CompiledCron[];
  /** Copied out of the specs' objects, because reading thousands of objects takes longer than the search itself. */
  readonly #addresses: Uint32Array;
  /** For each chunk of the batch, the earliest ticket of its addresses. */
  readonly #tickets: number[] = [];

  constructor(crons: readonly CompiledCron[]) {
    this.#crons = [...crons];
    this.#addresses = new Uint32Array(crons.length);
    reserveSpecs(crons.length);
    for (let start = 0; start < crons.length; start += BATCH_ITEMS) this.#locate(start);
  }

  get size(): number {
    return this.#crons.length;
  }

  /** The next fire time of each spec, `NaN` where there is none.
   *  @param afters one instant for all specs, or an array with one instant for each spec
   *  @param out receives the answers; as long as the batch. Default: a new array */
  nextMs(afters: number | Float64Array, out: Float64Array = new Float64Array(this.size)): Float64Array {
    assertLength(out, this.size, "out");
    if (typeof afters === "number") assertInstant(afters, "after");
    else assertLength(afters, this.size, "afters");
    for (let start = 0; start < this.size; start += BATCH_ITEMS) this.#nextOfChunk(start, afters, out);
    return out;
  }

  // A chunk goes through the kernel's buffers. The kernel stops early where the table of a zone ends: that item is
  // asked for singly, which extends the table, and the rest of the chunk is asked for again.
  #nextOfChunk(chunkStart: number, afters: number | Float64Array, out: Float64Array): void {
    const end = Math.min(chunkStart + BATCH_ITEMS, this.size);
    if ((this.#tickets[chunkStart / BATCH_ITEMS] ?? 0) < oldestTicket) this.#locate(chunkStart);
    for (let start = chunkStart; start < end; start++) {
      const { input, slots } = views();
      if (typeof afters === "number") input[0] = afters;
      else input.set(start === 0 && end === this.size ? afters : afters.subarray(start, end));
      slots.set(start === 0 && end === this.size ? this.#addresses : this.#addresses.subarray(start, end));
      const done = kernel.nextMany(end - start, typeof afters === "number" ? 0 : 8);
      const { output } = views();
      out.set(done === BATCH_ITEMS ? output : output.subarray(0, done), start);
      start += done;
      if (start === end) return;
      const afterMs = typeof afters === "number" ? afters : afters[start];
      out[start] = this.#crons[start]?.nextMs(afterMs ?? Number.NaN) ?? Number.NaN;
    }
  }

  // Copies the addresses of a chunk. Specs that are put into memory again may remove others of the chunk: then once
  // more.
  #locate(chunkStart: number): void {
    const end = Math.min(chunkStart + BATCH_ITEMS, this.size);
    let earliest = -1;
    while (earliest < oldestTicket) {
      earliest = Number.POSITIVE_INFINITY;
      for (let index = chunkStart; index < end; index++) {
        const cron = this.#crons[index];
        if (cron === undefined) continue;
        this.#addresses[index] = cron.address;
        earliest = Math.min(earliest, cron.ticket);
      }
    }
    this.#tickets[chunkStart / BATCH_ITEMS] = earliest;
  }
}

function assertInstant(value: number, name: string): void {
  if (typeof value === "number" && !Number.isNaN(value)) return;
  throw new OptionsError(`${name} must be a number of epoch milliseconds; got ${String(value)}`, [
    { path: name, message: "not a number" },
  ]);
}

function assertLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 0) return;
  throw new OptionsError(`limit must be a whole number of 0 or more; got ${limit}`, [
    { path: "limit", message: "not a whole number of 0 or more" },
  ]);
}

function assertLength(array: Float64Array, length: number, name: string): void {
  if (array.length === length) return;
  throw new OptionsError(`${name} must have ${length} items; got ${array.length}`, [
    { path: name, message: "wrong length" },
  ]);
}

/** How many months and stretches of time zones the engine has looked at so far: a 32-bit integer that may run over. */
export function engineSteps(): number {
  return kernel.stepCount();
}
