// The libraries that are compared, each behind the same two questions.
import { CronExpressionParser } from "cron-parser";
import { parseCronExpression } from "cron-schedule";
import { Cron } from "croner";
import { CronosExpression } from "cronosjs";
import { createTask } from "node-cron";
import { RRuleTemporal } from "rrule-temporal";
import { CronTrigger } from "../../src/triggers/cron.ts";

/** An expression in the forms that the libraries read. */
export interface Expression {
  readonly cron: string;
  readonly rrule: string;
  /** Dense: fires at least hourly on every day. */
  readonly isDense: boolean;
}

/** Answers the first fire time after an instant, in epoch milliseconds. */
export type Next = (afterMs: number) => number | null | undefined;

export interface Peer {
  readonly name: string;
  /** Null where the library cannot do it: no zones, or no such question. */
  readonly compile: (expression: Expression, timeZone: string | null) => Next | null;
  readonly parse?: (cron: string) => unknown;
  /** The next 1,000 fire times as the library likes to be asked for them; returns the last. */
  readonly thousand?: (expression: Expression, timeZone: string | null) => (afterMs: number) => number;
  /** Answers at far instants would take minutes. */
  readonly isNearOnly?: boolean;
}

/** Libraries without zones use the host's, which the launcher sets to UTC. */
const zoneOption = (timeZone: string | null): string => timeZone ?? "UTC";

export const OURS: Peer = {
  name: "escapement",
  compile: ({ cron }, timeZone) => {
    const trigger = CronTrigger.fromCrontab(cron, { timeZone: zoneOption(timeZone) });
    return (afterMs) => trigger.nextMs(afterMs);
  },
  parse: (cron) => CronTrigger.fromCrontab(cron),
  thousand: ({ cron }, timeZone) => {
    const trigger = CronTrigger.fromCrontab(cron, { timeZone: zoneOption(timeZone) });
    return (afterMs) => {
      let ms = afterMs;
      for (let count = 0; count < 1000; count++) ms = trigger.nextMs(ms) ?? Number.NaN;
      return ms;
    };
  },
};

const croner: Peer = {
  name: "croner",
  compile: ({ cron }, timeZone) => {
    const job = timeZone === null ? new Cron(cron) : new Cron(cron, { timezone: timeZone });
    return (afterMs) => job.nextRun(new Date(afterMs))?.getTime();
  },
  parse: (cron) => new Cron(cron),
  thousand: ({ cron }, timeZone) => {
    const job = timeZone === null ? new Cron(cron) : new Cron(cron, { timezone: timeZone });
    return (afterMs) => job.nextRuns(1000, new Date(afterMs)).at(-1)?.getTime() ?? 0;
  },
};

const cronParser: Peer = {
  name: "cron-parser",
  compile: ({ cron }, timeZone) => {
    const iterator = CronExpressionParser.parse(cron, { tz: zoneOption(timeZone) });
    return (afterMs) => {
      iterator.reset(new Date(afterMs));
      return iterator.next().getTime();
    };
  },
  parse: (cron) => CronExpressionParser.parse(cron),
  thousand: ({ cron }, timeZone) => {
    const iterator = CronExpressionParser.parse(cron, { tz: zoneOption(timeZone) });
    return (afterMs) => {
      iterator.reset(new Date(afterMs));
      return iterator.take(1000).at(-1)?.getTime() ?? 0;
    };
  },
};

const cronSchedule: Peer = {
  name: "cron-schedule",
  compile: ({ cron }, timeZone) => {
    if (timeZone !== null) return null;
    const schedule = parseCronExpression(cron);
    return (afterMs) => schedule.getNextDate(new Date(afterMs)).getTime();
  },
  parse: (cron) => parseCronExpression(cron),
};

const cronos: Peer = {
  name: "cronosjs",
  compile: ({ cron }, timeZone) => {
    const expression = CronosExpression.parse(cron, timeZone === null ? {} : { timezone: timeZone });
    return (afterMs) => expression.nextDate(new Date(afterMs))?.getTime();
  },
  parse: (cron) => CronosExpression.parse(cron),
};

const rruleTemporal: Peer = {
  name: "rrule-temporal",
  isNearOnly: true,
  compile: ({ rrule }, timeZone) => {
    const rule = new RRuleTemporal({
      rruleString: `DTSTART;TZID=${zoneOption(timeZone)}:20260101T000000\nRRULE:${rrule}`,
    });
    return (afterMs) => rule.next(new Date(afterMs), false)?.epochMilliseconds;
  },
};

/** Whether the peers were left out of the bundle: set by run.mjs. */
declare const OURS_ALONE: boolean;

export const PEERS: readonly Peer[] = OURS_ALONE
  ? [OURS]
  : [OURS, croner, cronParser, cronSchedule, cronos, rruleTemporal];

/** node-cron only tells the next run from the present on, and of a task that has been started. */
export function nodeCronFromPresent(cron: string, timeZone: string): { next: () => number; stop: () => void } | null {
  if (OURS_ALONE) return null;
  const task = createTask(cron, () => {}, { timezone: timeZone });
  void task.start();
  return { next: () => task.getNextRun()?.getTime() ?? 0, stop: () => void task.destroy() };
}
