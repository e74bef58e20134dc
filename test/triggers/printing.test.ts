import { describe, expect, test } from "vitest";
import { CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { AndTrigger, OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";

const cron = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
const TRIGGERS: readonly Trigger[] = [
  cron,
  new IntervalTrigger({ minutes: 5 }),
  new CalendarIntervalTrigger({ months: 1 }),
  new DateTrigger("2030-01-01T00:00:00Z"),
  new OrTrigger([cron]),
  new AndTrigger([cron]),
  new ExcludingTrigger(cron, ["2030-01-01"]),
];

describe("a trigger that is printed", () => {
  test.each(TRIGGERS.map((trigger) => [trigger.toJSON().type, trigger] as const))(
    "shows its rule: %s",
    (_, trigger) => {
      // What console.log of Node, Deno and Bun asks for.
      const inspect = Reflect.get(trigger, Symbol.for("nodejs.util.inspect.custom")) as () => unknown;
      expect(inspect.call(trigger)).toEqual(trigger.toJSON());
    },
  );
});
