import type { Expression } from "./peers.ts";

/** Expressions that all libraries understand alike. */
export const EXPRESSIONS: readonly Expression[] = [
  { cron: "* * * * *", rrule: "FREQ=MINUTELY", isDense: true },
  { cron: "*/5 * * * *", rrule: "FREQ=MINUTELY;INTERVAL=5", isDense: true },
  { cron: "7,22,41 * * * *", rrule: "FREQ=HOURLY;BYMINUTE=7,22,41", isDense: true },
  { cron: "30 9 * * *", rrule: "FREQ=DAILY;BYHOUR=9;BYMINUTE=30", isDense: false },
  {
    cron: "*/15 9-17 * * 1-5",
    rrule: "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9,10,11,12,13,14,15,16,17;BYMINUTE=0,15,30,45",
    isDense: false,
  },
  { cron: "0 9 * * 1", rrule: "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0", isDense: false },
  { cron: "30 4 1,15 * *", rrule: "FREQ=MONTHLY;BYMONTHDAY=1,15;BYHOUR=4;BYMINUTE=30", isDense: false },
  {
    cron: "0 12 29 2 *",
    rrule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=12;BYMINUTE=0",
    isDense: false,
  },
];

/** Expressions of many kinds, for mixed batches. */
export function mixedExpressions(count: number): string[] {
  const kinds: ((index: number) => string)[] = [
    (index) => `*/${1 + (index % 30)} * * * *`,
    (index) => `${index % 60} * * * *`,
    (index) => `${index % 60} ${index % 24} * * *`,
    (index) => `${index % 60} ${index % 24} * * ${index % 7}`,
    (index) => `${index % 60} ${index % 24} * * 1-5`,
    (index) => `${index % 60} ${index % 24} ${1 + (index % 28)} * *`,
    (index) => `*/10 8-${17 + (index % 5)} * * 1-5`,
    (index) => `0 ${index % 24} ${1 + (index % 28)} ${1 + (index % 12)} *`,
    (index) => `${index % 60},${(index * 7) % 60} */${1 + (index % 6)} * * *`,
    (index) => `${index % 60} ${index % 24} 1,15 * *`,
  ];
  return Array.from(
    { length: count },
    (_, index) => kinds[index % kinds.length]?.(Math.floor(index / 3)) ?? "* * * * *",
  );
}

/** A fixed sequence of numbers in [0, 1): inputs are the same in every run (Lehmer's generator). */
export function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
