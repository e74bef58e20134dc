import type { OffsetChange } from "./zone-rules.ts";

// Once the rules of a zone no longer change, only two facts make one year differ from another: on which day of the week
// it begins, and whether it is a leap year. So there are 14 types of years.

/**
 * The clock changes of the years that follow the model years, up to an instant.
 *
 * @param models the changes of the model years, in order. Any 28 years in a row, none of them like 2100, are enough:
 *   among them is a year of each type
 * @param last the last model year
 * @param until in seconds; exclusive
 */
export function yearsByType(models: readonly OffsetChange[], last: number, until: number): OffsetChange[] {
  // The years of each type, by year. A later year of the same type goes in the place of the earlier one.
  const years = new Map<number, OffsetChange[]>();
  for (const { instant, offset } of models) {
    const year = new Date(instant * 1000).getUTCFullYear();
    const changes = years.get(year) ?? [];
    changes.push({ instant: instant - startOfYear(year), offset });
    years.set(year, changes);
  }
  const types = new Map([...years].map(([year, changes]) => [typeOf(year), changes]));
  const later: OffsetChange[] = [];
  for (let year = last + 1; startOfYear(year) < until; year++) {
    const start = startOfYear(year);
    for (const { instant, offset } of types.get(typeOf(year)) ?? []) {
      if (start + instant < until) later.push({ instant: start + instant, offset });
    }
  }
  return later;
}

function typeOf(year: number): number {
  const isLeap = new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1;
  return new Date(Date.UTC(year, 0, 1)).getUTCDay() * 2 + Number(isLeap);
}

/** The start of a year from 1970 on, in seconds. */
function startOfYear(year: number): number {
  return Date.UTC(year, 0, 1) / 1000;
}
