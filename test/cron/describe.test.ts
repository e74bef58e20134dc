import { describe, expect, test } from "vitest";
import type { DstPolicy } from "../../src/cron/spec.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";

describe("a cron trigger in English", () => {
  test.each<[string, string]>([
    ["* * * * *", "Every minute"],
    ["* * * * * *", "Every second"],
    ["0 * * * *", "Every hour"],
    ["0 9 * * mon-fri", "At 09:00, Monday to Friday"],
    ["30 9 * * *", "At 09:30"],
    ["0 9,17 * * *", "At 09:00 and 17:00"],
    ["0 0,6,12,18 * * *", "Every 6 hours"],
    ["0 9-17 * * *", "Every hour from 09:00 to 17:00"],
    ["30 9-17 * * mon-fri", "Every hour from 09:30 to 17:30, Monday to Friday"],
    ["15 9-17/2 * * *", "Every 2 hours from 09:15 to 17:15"],
    ["0 */2 * * *", "Every 2 hours"],
    ["5 */2 * * *", "Every 2 hours at minute 5"],
    ["5 * * * *", "Every hour at minute 5"],
    ["30 15 * * * *", "Every hour at minute 15 and second 30"],
    ["15 30 9 * * *", "At 09:30:15"],
    ["*/5 * * * *", "Every 5 minutes"],
    ["*/15 9-17 * * *", "Every 15 minutes from 09:00 to 17:59"],
    ["*/15 9,17 * * *", "Every 15 minutes of hours 9 and 17"],
    ["5/15 * * * *", "Every 15 minutes from minute 5"],
    ["5-40/7 * * * *", "At minutes 5, 12, 19, 26, 33 and 40 of every hour"],
    ["*/45 * * * *", "At minutes 0 and 45 of every hour"],
    ["*/59 * * * *", "At minutes 0 and 59 of every hour"],
    ["58-2 * * * *", "At minutes 58 to 2 of every hour"],
    ["0 0 * * sun,mon", "At 00:00, Sunday and Monday"],
    ["0 0 1 1,12 *", "At 00:00, on day 1 of the month, in December and January"],
    ["*/7 * * * *", "At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour"],
    ["2-58/4 * * * *", "Every 4 minutes from minute 2"],
    ["1-58/3 9 * * *", "Every 3 minutes from minute 1 from 09:00 to 09:59"],
    ["2-50/3 * * * *", "Every 3rd minute from 2 to 50 of every hour"],
    ["0-29/5 9 * * *", "At minutes 0, 5, 10, 15, 20 and 25 of hour 9"],
    ["*/10 */2 * * *", "Every 10 minutes of every 2nd hour from 0 to 22"],
    ["0 */5 * * *", "Every 5 hours from 00:00 to 20:00"],
    ["0 */7 * * *", "Every 7 hours from 00:00 to 21:00"],
    ["*/7 * * * * *", "At seconds 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every minute"],
    ["30 * * * * *", "Every minute, at second 30"],
    ["30 * 9-17 * * *", "Every minute from 09:00 to 17:59, at second 30"],
    ["0-30 * * * * *", "At seconds 0 to 30 of every minute"],
    ["*/5 */2 * * * *", "Every 5 seconds of every 2nd minute from 0 to 58 of every hour"],
    ["15,45 * * * * *", "At seconds 15 and 45 of every minute"],
    ["0,20 * * * *", "At minutes 0 and 20 of every hour"],
    ["0,20,45 9-17 * * *", "At minutes 0, 20 and 45 of hours 9 to 17"],
    ["0-29 * * * *", "At minutes 0 to 29 of every hour"],
    ["0-10,30 9 * * *", "At minutes 0 to 10 and 30 of hour 9"],
    ["*/10 * * * * *", "Every 10 seconds"],
    ["*/10 0 9 * * *", "Every 10 seconds of minute 0 of hour 9"],
    ["30 */5 * * * *", "Every 5 minutes, at second 30"],
    ["0,30 * 9-17 * * *", "Every 30 seconds from 09:00 to 17:59"],
    ["* 9 * * *", "Every minute from 09:00 to 09:59"],
    ["* 22-2 * * *", "Every minute from 22:00 to 02:59"],
    ["* 0-8,20 * * *", "Every minute of hours 0 to 8 and 20"],
    ["0 0 1 * *", "At 00:00, on day 1 of the month"],
    ["0 0 1,15 * *", "At 00:00, on days 1 and 15 of the month"],
    ["0 0 1-7 * *", "At 00:00, on days 1 to 7 of the month"],
    ["0 0 */2 * *", "At 00:00, on every 2nd day from 1 to 31 of the month"],
    ["0 0 2/10 * *", "At 00:00, on days 2, 12 and 22 of the month"],
    ["0 0 L * *", "At 00:00, on the last day of the month"],
    ["0 0 L-1 * *", "At 00:00, on the day before the last of the month"],
    ["0 0 L-3 * *", "At 00:00, on the day 3 days before the last of the month"],
    ["0 0 15W * *", "At 00:00, on the weekday nearest to day 15 of the month"],
    ["0 0 LW * *", "At 00:00, on the last weekday (Monday to Friday) of the month"],
    ["0 0 1,L * *", "At 00:00, on day 1 and the last day of the month"],
    ["0 0 fri#2 * *", "At 00:00, on the second Friday of the month"],
    ["0 0 fri#2,sunL * *", "At 00:00, on the second Friday and the last Sunday of the month"],
    ["0 0 1 1 *", "At 00:00, on 1 January"],
    ["0 0 1,15 1 *", "At 00:00, on 1 and 15 January"],
    ["0 0 * jan *", "At 00:00, in January"],
    ["0 0 * 1-3 *", "At 00:00, January to March"],
    ["0 0 1 1,4,7,10 *", "At 00:00, on day 1 of the month, in January, April, July and October"],
    ["0 0 1 nov-feb *", "At 00:00, on day 1 of the month, November to February"],
    ["0 0 * * 0", "At 00:00, Sunday"],
    ["0 0 * * 6,0", "At 00:00, Saturday and Sunday"],
    ["0 0 * * mon,wed,fri", "At 00:00, Monday, Wednesday and Friday"],
    ["0 0 * * fri-mon", "At 00:00, Friday to Monday"],
    ["0 0 * * fri#2", "At 00:00, on the second Friday of the month"],
    ["0 0 * * friL", "At 00:00, on the last Friday of the month"],
    ["0 0 * * mon,fri#2", "At 00:00, Monday and on the second Friday of the month"],
    ["0 0 * * fri#1,fri#3", "At 00:00, on the first Friday and the third Friday of the month"],
    ["0 0 13 * fri", "At 00:00, on day 13 of the month or Friday"],
    ["0 0 1-7 * mon", "At 00:00, on days 1 to 7 of the month or Monday"],
    ["0 0 L 2 mon", "At 00:00, on the last day of the month or Monday, in February"],
    ["0 0 0 1 1 * 2030", "At 00:00, on 1 January, in 2030"],
    ["0 0 0 1 1 * 2030-2035", "At 00:00, on 1 January, 2030 to 2035"],
    ["0 0 0 1 1 * 2024/4", "At 00:00, on 1 January, every 4 years from 2024"],
    ["0 0 0 1 1 * 2030,2032,2037", "At 00:00, on 1 January, in 2030, 2032 and 2037"],
    ["0 0 0 29 2 * 2000/400", "At 00:00, on 29 February, every 400 years from 2000"],
    [
      "0 0 0 * * * 1971,1973,1976,1980,1985,1991,1998,2006",
      "At 00:00, in the years 1971,1973,1976,1980,1985,1991,1998,2006",
    ],
    ["0 9 * * mon week=10", "At 09:00, Monday, in ISO week 10"],
    ["0 9 * * mon week=10-20", "At 09:00, Monday, in ISO weeks 10 to 20"],
    ["0 9 * * mon week=*/2", "At 09:00, Monday, in every 2nd ISO week from 1 to 53"],
    ["0 9 * * mon week=1,10-12", "At 09:00, Monday, in ISO weeks 1 and 10 to 12"],
    ["@yearly", "At 00:00, on 1 January"],
    ["@weekly", "At 00:00, Sunday"],
  ])("%j is described as %j", (text, english) => {
    const description = CronTrigger.fromCrontab(text, { timeZone: "Europe/Berlin" }).describe();
    expect(description).toBe(`${english}, in Europe/Berlin`);
  });

  test("both day and weekday may be asked for", () => {
    const trigger = CronTrigger.fromCrontab("0 0 13 * fri", { dayMatch: "and" });
    expect(trigger.describe()).toBe("At 00:00, on day 13 of the month if it is Friday, in UTC");
  });

  test("the fields form reads the same", () => {
    const trigger = new CronTrigger({ hour: 9, dayOfWeek: "mon-fri" }, { timeZone: "Europe/Berlin" });
    expect(trigger.describe()).toBe("At 09:00, Monday to Friday, in Europe/Berlin");
  });

  test("bounds are named, in the trigger's zone", () => {
    const bounds = { startTime: "2030-01-01T00:00:00Z", endTime: "2030-12-31T12:00:00+01:00" };
    expect(CronTrigger.fromCrontab("@daily", bounds).describe()).toBe(
      "At 00:00, in UTC, from 2030-01-01T00:00:00Z until 2030-12-31T11:00:00Z",
    );
    expect(CronTrigger.fromCrontab("@daily", { ...bounds, timeZone: "Europe/Berlin" }).describe()).toBe(
      "At 00:00, in Europe/Berlin, from 2030-01-01T01:00:00+01:00 until 2030-12-31T12:00:00+01:00",
    );
  });

  test("an explicit policy for clock changes is named, and what auto means is not", () => {
    const described = (dst: DstPolicy) =>
      CronTrigger.fromCrontab("30 2 * * *", { timeZone: "Europe/Berlin", dst }).describe();
    expect(described({ gap: "skip", overlap: "both" })).toBe(
      "At 02:30, in Europe/Berlin (skipped times do not fire, repeated times fire twice)",
    );
    expect(described({ gap: "shift", overlap: "second" })).toBe(
      "At 02:30, in Europe/Berlin (skipped times fire later by the gap, repeated times fire the second time)",
    );
    expect(described({ gap: "advance", overlap: "first" })).toBe("At 02:30, in Europe/Berlin");
  });
});
