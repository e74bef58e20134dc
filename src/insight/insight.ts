import * as v from "valibot";
import { matching } from "../core/bearer.ts";
import { type Checker, checker, objectOf, textUpTo } from "../core/check.ts";
import { systemClock } from "../core/clock.ts";
import { DearAnswers, inTurns, REMEMBERED_MS } from "../core/in-turns.ts";
import type { Logger } from "../core/logger.ts";
import { instantOf } from "../core/temporal.ts";
import { TOKEN_LENGTH_MIN, TOKENS_MAX } from "../hono/auth/limits.ts";
import type { InsightSource } from "../hono/insight-source.ts";
import { PAGE_SIZE_MAX } from "../scheduler/options/limits.ts";
import type { SchedulerClient } from "../scheduler/scheduler-client.ts";
import type { DeclaredSchedule } from "./declared.ts";
import { type Forecast, forecast } from "./forecast.ts";
import { CALENDAR_EVENTS_MAX } from "./limits.ts";
import { apply, plan } from "./plan.ts";
import type { Plan } from "./plan-report.ts";
import { type CalendarSchedule, calendarSteps, leftOutOf } from "./to-icalendar.ts";

/** Options of {@link insight}. */
export interface InsightOptions {
  /** Whether and for whom a router serves `GET /calendar.ics`. Default: for nobody, and there is no such route. */
  readonly calendar?: CalendarAccess | undefined;
}

/** Who may read the calendar of a router. */
export interface CalendarAccess {
  /** Tokens of 32 characters or more, each of which reads the calendar and nothing else: programs have them in an
   *  address, `/calendar.ics?token=TOKEN`. Or a function that tells those that count now, so that one that it leaves
   *  out is revoked. No token of the router should be among them. */
  readonly tokens: readonly string[] | (() => readonly string[] | Promise<readonly string[]>);
  /** What programs call the calendar. Default: `"Schedules"`. */
  readonly name?: string | undefined;
}

/** What the option `insight` of `createRouter` takes. */
export interface Insight extends InsightSource {
  forecast(...args: Parameters<InsightSource["forecast"]>): Promise<Forecast>;
  plan(...args: Parameters<InsightSource["plan"]>): Promise<Plan>;
  apply(...args: Parameters<InsightSource["apply"]>): Promise<Plan>;
}

let check: Checker<InsightOptions> | undefined;

const TOKENS = `a list of 1 to ${TOKENS_MAX} tokens of at least ${TOKEN_LENGTH_MIN} characters, or a function`;
/** A value of which no message shows anything. */
const tokens = () =>
  v.custom<CalendarAccess["tokens"]>(
    (value) => typeof value === "function" || (Array.isArray(value) && value.length > 0 && areTokens(value)),
    () => `must be ${TOKENS}`,
  );

function areTokens(list: readonly unknown[]): list is readonly string[] {
  return list.length <= TOKENS_MAX && list.every((one) => typeof one === "string" && one.length >= TOKEN_LENGTH_MIN);
}

/**
 * Makes what answers `GET /forecast`, `POST /plan` and `POST /apply` of a router, and with `calendar` also
 * `GET /calendar.ics`: `createRouter(scheduler, { auth, insight: insight() })`.
 * @throws {OptionsError} for unknown or invalid options
 * @example
 * const router = createRouter(scheduler, { auth, insight: insight() });
 */
export function insight(options: InsightOptions = {}): Insight {
  check ??= checker(
    (): v.GenericSchema<unknown, InsightOptions> =>
      objectOf({
        calendar: v.optional(objectOf({ tokens: tokens(), name: v.exactOptional(textUpTo(256)) })),
      }) as v.GenericSchema<unknown, InsightOptions>,
  );
  const { calendar } = check(options, "insight()");
  return {
    forecast,
    plan: (scheduler, declared, given) => plan(scheduler, declared as readonly DeclaredSchedule[], given),
    async apply(scheduler, declared, { revision: ifRevision, by, ...given }) {
      const found = await plan(scheduler, declared as readonly DeclaredSchedule[], given);
      return apply(found, { ifRevision, ...(by === undefined ? {} : { by }) });
    },
    ...(calendar === undefined
      ? {}
      : { calendar: (scheduler, token, range, logger) => calendarOf(scheduler, calendar, token, range, logger) }),
  };
}

/** Schedules and fire times of a calendar that are found in one turn of the event loop. */
const STEPS_OF_TURN = 32;

const calendars = new WeakMap<SchedulerClient, DearAnswers<string>>();

/** The calendar; null for a token that is none. */
async function calendarOf(
  scheduler: SchedulerClient,
  { tokens: given, name }: CalendarAccess,
  token: string,
  range: { readonly from: number; readonly until: number },
  logger: Pick<Logger, "warn">,
): Promise<string | null> {
  const allowed: unknown = typeof given === "function" ? await given() : given;
  // A function that tells no tokens lets nobody in.
  if (!Array.isArray(allowed) || !areTokens(allowed)) return null;
  if (!(await matching(token, allowed)).includes(true)) return null;
  // One who may read gets what another one got some seconds ago.
  const answers = calendars.get(scheduler) ?? new DearAnswers<string>(systemClock);
  calendars.set(scheduler, answers);
  const question = JSON.stringify([Math.floor(range.from / REMEMBERED_MS), range.until - range.from, name]);
  return answers.of(question, () => makeCalendar(scheduler, name, range, logger));
}

async function makeCalendar(
  scheduler: SchedulerClient,
  name: string | undefined,
  { from, until }: { readonly from: number; readonly until: number },
  logger: Pick<Logger, "warn">,
): Promise<string> {
  const schedules: CalendarSchedule[] = [];
  for await (const schedule of scheduler.getSchedules({ state: "active", limit: PAGE_SIZE_MAX })) {
    try {
      const { id, name: shown, taskId, trigger, nextFireTime } = schedule;
      schedules.push({ id, name: shown, taskId, trigger, nextFireTime });
    } catch {
      // This program does not know the trigger, so that the schedule does not fire here either.
    }
    if (schedules.length === CALENDAR_EVENTS_MAX) break;
  }
  // What fires often leaves room for the others.
  const limit = Math.max(1, Math.floor(CALENDAR_EVENTS_MAX / Math.max(schedules.length, 10)));
  const range = { from: instantOf(from), until: instantOf(until) };
  const steps = calendarSteps(schedules, { ...range, limit, ...(name === undefined ? {} : { name }) });
  const text = await inTurns(steps, STEPS_OF_TURN);
  const leftOut = leftOutOf(text);
  if (leftOut !== null) logger.warn(`escapement: GET /calendar.ics leaves fire times out: ${leftOut}`);
  return text;
}
