import { describe, expect, test } from "vitest";
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
    ["5-40/7 * * * *", "Every 7 minutes from minute 5 to 40"],
    ["0,20 * * * *", "At minutes 0 and 20 of every hour"],
    ["0,20,45 9-17 * * *", "At minutes 0, 20 and 45 of hours 9 to 17"],
    ["0-29 * * * *", "At minutes 0 to 29 of every hour"],
    ["0-10,30 9 * * *", "At minutes 0 to 10 and 30 of hour 9"],
    ["*/10 * * * * *", "Every 10 seconds"],
    ["*/10 0 9 * * *", "Every 10 seconds of minute 0 of hour 9"],
    ["30 */5 * * * *", "At second 30 of every 5 minutes of every hour"],
    ["0,30 * 9-17 * * *", "Every 30 seconds from 09:00 to 17:59"],
    ["* 9 * * *", "Every minute from 09:00 to 09:59"],
    ["* 22-2 * * *", "Every minute from 22:00 to 02:59"],
    ["* 0-8,20 * * *", "Every minute of hours 0 to 8 and 20"],
    ["0 0 1 * *", "At 00:00, on day 1 of the month"],
    ["0 0 1,15 * *", "At 00:00, on days 1 and 15 of the month"],
    ["0 0 1-7 * *", "At 00:00, on days 1 to 7 of the month"],
    ["0 0 */2 * *", "At 00:00, every 2 days from day 1 of the month"],
    ["0 0 2/10 * *", "At 00:00, every 10 days from day 2 of the month"],
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
    ["0 9 * * mon week=*/2", "At 09:00, Monday, every 2 ISO weeks from ISO week 1"],
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

  test("bounds are named", () => {
    const bounds = { startTime: "2030-01-01T00:00:00Z", endTime: "2030-12-31T12:00:00+01:00" };
    expect(CronTrigger.fromCrontab("@daily", bounds).describe()).toBe(
      "At 00:00, in UTC, from 2030-01-01T00:00:00Z until 2030-12-31T11:00:00Z",
    );
  });
});
