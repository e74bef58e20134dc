/** The fields of a cron expression, in APScheduler's order: from the one that changes most rarely to the one that
 *  changes most often. */
type CronFieldName = "year" | "month" | "day" | "week" | "dayOfWeek" | "hour" | "minute" | "second";

/** The fields of `CronTrigger`: a number, or text in the cron dialect. */
export type CronFields = { readonly [Name in CronFieldName]?: number | string | undefined };

/** What one field takes. */
export interface CronField {
  readonly name: CronFieldName;
  readonly min: number;
  readonly max: number;
  /** Largest number that may be written: 7 for the weekday, where it is another name of Sunday. */
  readonly writtenMax: number;
  /** Whether a range may run over the end (`fri-mon`). */
  readonly wraps: boolean;
  /** Names of the values, from `min` on; lower case. */
  readonly names: readonly string[];
  /** The names as {@link nameKey} codes them. */
  readonly keys: readonly number[];
}

/** Three characters, in lower case, as one number. */
export function nameKey(codes: ArrayLike<number>, at: number): number {
  return ((codes[at] ?? 0) << 16) | ((codes[at + 1] ?? 0) << 8) | (codes[at + 2] ?? 0) | 0x202020;
}

export const WEEKDAY_NAMES: readonly string[] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const field = (
  name: CronFieldName,
  min: number,
  max: number,
  wraps: boolean,
  names: readonly string[] = [],
  writtenMax: number = max,
): CronField => ({
  name,
  min,
  max,
  writtenMax,
  wraps,
  names,
  keys: names.map((text) =>
    nameKey(
      [...text].map((letter) => letter.charCodeAt(0)),
      0,
    ),
  ),
});

export const SECOND: CronField = field("second", 0, 59, true);
export const MINUTE: CronField = field("minute", 0, 59, true);
export const HOUR: CronField = field("hour", 0, 23, true);
export const DAY: CronField = field("day", 1, 31, false);
export const MONTH: CronField = field("month", 1, 12, true, MONTH_NAMES);
export const DAY_OF_WEEK: CronField = field("dayOfWeek", 0, 6, true, WEEKDAY_NAMES, 7);
export const WEEK: CronField = field("week", 1, 53, false);
export const YEAR: CronField = field("year", 1970, 9999, false);

/** In APScheduler's order of significance. */
export const FIELDS_BY_SIGNIFICANCE: readonly CronField[] = [YEAR, MONTH, DAY, WEEK, DAY_OF_WEEK, HOUR, MINUTE, SECOND];

/** In the order of a crontab line with seconds and a year. */
export const FIELDS_OF_CRONTAB: readonly CronField[] = [SECOND, MINUTE, HOUR, DAY, MONTH, DAY_OF_WEEK, YEAR];

/** `@daily` and its like. */
export const NICKNAMES: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
