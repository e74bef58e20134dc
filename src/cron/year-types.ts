import type { ClockChange } from "./zone-rules.ts";

// Once the rules of a zone no longer change, only two facts make one year differ from another: on which day of the week
// it begins, and whether it is a leap year. So there are 14 types of years.

/**
 * The clock changes of the years that follow the model years, up to an instant.
 *
 * @param known changes that include all those of the model years
 * @param first the first model year. The model years must have a year of each type, as any 28 years have between two
 *   years such as 2100
 * @param last the last model year
 * @param until in seconds; exclusive
 */
export function yearsByType(known: readonly ClockChange[], first: number, last: number, until: number): ClockChange[] {
  const models = new Map<number, ClockChange[]>();
  for (let year = first; year <= last; year++) {
    const start = startOfYear(year);
    const end = startOfYear(year + 1);
    const changes = known.filter(({ instant }) => instant >= start && instant < end);
    models.set(
      typeOf(year),
      changes.map(({ instant, offset }) => ({ instant: instant - start, offset })),
    );
  }
  const later: ClockChange[] = [];
  for (let year = last + 1; startOfYear(year) < until; year++) {
    const start = startOfYear(year);
    for (const { instant, offset } of models.get(typeOf(year)) ?? []) {
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
