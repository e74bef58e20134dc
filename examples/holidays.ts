// A trigger of your own: one that skips the public holidays of a country, Easter and all, whatever the year.
// (For a fixed list of dates, ExcludingTrigger is enough.)
//
//     deno run examples/holidays.ts        bun examples/holidays.ts        node examples/holidays.ts (22.18 or newer)
import { CronTrigger, registerTrigger, Trigger, type TriggerJSON, triggerFromJSON } from "escapement";

const TAG = "example/withoutHolidays";

/** A search that finds no working day among so many fire times is given up. */
const HOLIDAYS_IN_A_ROW_MAX = 100_000;

/** Another trigger's fire times, except on public holidays of Germany as a whole. */
class WithoutHolidays extends Trigger {
  readonly inner: Trigger;

  constructor(inner: Trigger) {
    super();
    this.inner = inner;
  }

  // Fire times are presented in this zone, and holidays are days of it.
  override get timeZone(): string {
    return this.inner.timeZone;
  }

  // Pure functions of the instant asked about, which is all that a trigger is.
  nextMs(afterMs: number): number | null {
    return this.#firstWorkday(afterMs, (ms) => this.inner.nextMs(ms));
  }

  previousMs(beforeMs: number): number | null {
    return this.#firstWorkday(beforeMs, (ms) => this.inner.previousMs(ms));
  }

  // An interval without a start gets one when it is scheduled, also inside another trigger.
  override startingAtMs(atMs: number): this {
    const anchored = this.inner.startingAtMs(atMs);
    return anchored === this.inner ? this : (new WithoutHolidays(anchored) as this);
  }

  describe(): string {
    return `${this.inner.describe()}, except on public holidays`;
  }

  toJSON(): TriggerJSON {
    return { type: TAG, version: 1, inner: this.inner.toJSON() };
  }

  #firstWorkday(fromMs: number, step: (ms: number) => number | null): number | null {
    let atMs = step(fromMs);
    for (let tried = 0; atMs !== null && tried < HOLIDAYS_IN_A_ROW_MAX; tried++) {
      if (!isHoliday(this.zoned(atMs))) return atMs;
      atMs = step(atMs);
    }
    return null;
  }
}

// What makes it survive a restart: a store keeps the JSON, and this brings it back.
registerTrigger(TAG, { version: 1, fromJSON: (json, read) => new WithoutHolidays(read(json.inner, "inner")) });

const FIXED_HOLIDAYS = ["1-1", "5-1", "10-3", "12-25", "12-26"];
/** Good Friday, Easter Monday, Ascension and Whit Monday, as days after Easter Sunday. */
const EASTER_HOLIDAYS = [-2, 1, 39, 50];

function isHoliday({ year, month, day }: { year: number; month: number; day: number }): boolean {
  const daysAfterEaster = (Date.UTC(year, month - 1, day) - easterSunday(year)) / 86_400_000;
  return FIXED_HOLIDAYS.includes(`${month}-${day}`) || EASTER_HOLIDAYS.includes(daysAfterEaster);
}

/** Midnight UTC of Easter Sunday, after the anonymous Gregorian algorithm (Meeus, Jones, Butcher). */
function easterSunday(year: number): number {
  const golden = year % 19;
  const century = Math.floor(year / 100);
  const ofCentury = year % 100;
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const moon = (19 * golden + century - Math.floor(century / 4) - correction + 15) % 30;
  const weekday = (32 + 2 * (century % 4) + 2 * Math.floor(ofCentury / 4) - moon - (ofCentury % 4)) % 7;
  const late = Math.floor((golden + 11 * moon + 22 * weekday) / 451);
  const march = moon + weekday - 7 * late + 114;
  return Date.UTC(year, Math.floor(march / 31) - 1, (march % 31) + 1);
}

const workdays = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
const trigger = new WithoutHolidays(workdays);
const stored = JSON.stringify(trigger);

console.log(trigger.describe());
for (const fireTime of triggerFromJSON(JSON.parse(stored)).fireTimes({ from: "2026-04-02T00:00:00Z", limit: 4 })) {
  console.log(String(fireTime));
}
