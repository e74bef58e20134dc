import { expect, test } from "vitest";
import { type CountedSchedule, countFires } from "../../src/insight/count-fires.ts";
import { CronTrigger, IntervalTrigger, type Trigger } from "../../src/mod.ts";

const FROM = Date.UTC(2027, 0, 1);

let asked = 0;
class AskedTrigger extends IntervalTrigger {
  override nextMs(afterMs: number): number | null {
    asked++;
    return super.nextMs(afterMs);
  }
  override startingAtMs(): this {
    return this;
  }
}

/** How many steps a forecast of a day takes, and the most questions to a rule between two of them. */
function stepsOf(triggers: readonly Trigger[]): { steps: number; most: number } {
  const schedules: CountedSchedule[] = triggers.map((trigger) => ({
    taskId: "task",
    trigger,
    startMs: FROM,
    runMs: 0,
  }));
  const range = { from: FROM, until: FROM + 86_400_000, bucketMs: 60_000, count: 1440 };
  let [steps, most] = [0, 0];
  const counting = countFires(schedules, range, "forecast()");
  for (let step = counting.next(); step.done !== true; step = counting.next()) {
    most = Math.max(most, asked);
    asked = 0;
    steps++;
  }
  return { steps, most };
}

test("a forecast asks rules of any kind at most 33 times in one step", () => {
  const triggers = [10, 20, 30].map((seconds) => new AskedTrigger({ seconds }, FROM));
  const { steps, most } = stepsOf(triggers);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(33);
  expect(steps).toBeGreaterThan(400);
});

test("a forecast looks at 500 crontab schedules in one step, and counts 10,000 fires", () => {
  const crons = Array.from({ length: 5000 }, (_, index) => new CronTrigger(`${index % 60} * * * *`));
  expect(stepsOf(crons).steps).toBeGreaterThanOrEqual(10);
  const seconds = Array.from({ length: 3 }, (_, index) => new IntervalTrigger({ seconds: 1 + index }));
  expect(stepsOf(seconds).steps).toBeGreaterThanOrEqual(15);
});
