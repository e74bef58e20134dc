import * as v from "valibot";
import { DURATION_MS_MAX } from "../../core/check-limits.ts";
import type { Clock } from "../../core/clock.ts";
import { durationText } from "../../core/duration.ts";
import type { IdGenerator } from "../../core/ids.ts";
import { optionError } from "../../core/option-errors.ts";
import { instantText } from "../../core/temporal.ts";
import type { SkippedJobs } from "../../scheduler/commands/commands.ts";
import { checkTrigger, type Spreading } from "../../scheduler/options/check-options.ts";
import type { CheckedPause, ListInclude } from "../../scheduler/options/checked-options.ts";
import { Job, type JobClient } from "../../scheduler/views/job.ts";
import { JobResult, type JobResultFacts } from "../../scheduler/views/job-result.ts";
import { mapPage, type Page } from "../../scheduler/views/page.ts";
import {
  Schedule,
  type ScheduleClient,
  type ScheduleExtras,
  type ScheduleFacts,
} from "../../scheduler/views/schedule.ts";
import type { TriggerLike } from "../../triggers/short-trigger.ts";
import type { Requester, RouterRequest } from "../http/requester.ts";
import { jobSchema, type ReadJob } from "../wire/job.ts";
import { wireFilter } from "../wire/options.ts";
import { pageSchema } from "../wire/pages.ts";
import { serializer } from "./task-reference.ts";

/** What the calls of one client share. */
export interface CallContext {
  readonly requester: Requester;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  /** The client itself, for the verbs of schedules and jobs. */
  readonly client: JobClient & ScheduleClient;
}

/** By client, for what is a door of its own and has routes of its own. */
const contexts = new WeakMap<object, CallContext>();

/** @internal */
export function giveCallContext(context: CallContext): void {
  contexts.set(context.client, context);
}

/** What the calls of a client share; undefined for what is no client of a router. @internal */
export function callContextOf(client: object): CallContext | undefined {
  return contexts.get(client);
}

/** How long the key of an addition is kept at least, in milliseconds. It has to be longer than the call is repeated. */
const KEY_KEPT_MS_MIN = 600_000;

/** A key by which a call that adds a job may be made once more, where the caller gives none. */
export function ownKey({ ids, clock, requester }: CallContext): { idempotencyKey: string; uniqueFor: string } {
  const keptMs = Math.min(DURATION_MS_MAX, Math.max(KEY_KEPT_MS_MIN, requester.repetitionMs));
  return { idempotencyKey: ids.next(clock.now()), uniqueFor: durationText(keptMs) };
}

export function jobOf({ client }: CallContext, { record, hasEnded }: ReadJob): Job {
  return new Job(record, serializer, client, hasEnded);
}

/** Makes a call that a job answers. */
export async function readJob(context: CallContext, call: RouterRequest): Promise<Job> {
  return jobOf(context, await context.requester.read(call, jobSchema()));
}

/** How much longer a call about many schedules or jobs may take, in milliseconds. */
export const BULK_MS = 300_000;

const bulkSchema = () => {
  const refusal = v.object({ id: v.string(), code: v.string(), detail: v.string() });
  return v.object({ count: v.number(), skipped: v.number(), refusals: v.array(refusal) });
};

/** The answer to a call about many schedules or jobs. */
export function readBulk(
  { requester }: CallContext,
  call: Pick<RouterRequest, "path" | "body" | "signal" | "isRepeatable">,
): Promise<{ count: number } & SkippedJobs> {
  return requester.read({ method: "POST", ...call, waitMs: BULK_MS }, bulkSchema());
}

/** A list whose records come with their large values, as those of a scheduler do. */
export function wholeList(
  path: string,
  numbers: { readonly [Name in keyof ListInclude]: boolean | undefined } = {},
  words: readonly string[] = ["payload", "result"],
): Pick<RouterRequest, "path" | "query"> {
  const asked = (["total", "facets"] as const).filter((name) => numbers[name] === true);
  return { path, query: { include: [...words, ...asked].join(",") } };
}

/** Reads a page of a list. */
export async function readPage<A, B>(
  { requester }: CallContext,
  list: Pick<RouterRequest, "path" | "about" | "query">,
  filter: object,
  item: v.GenericSchema<unknown, A>,
  convert: (item: A) => B,
): Promise<Page<B>> {
  const call: RouterRequest = { method: "GET", ...list, query: { ...list.query, ...wireFilter(filter) } };
  return mapPage(await requester.read(call, pageSchema(item)), convert);
}

export function resultOf(record: JobResultFacts): JobResult {
  return new JobResult(record, serializer);
}

export function scheduleOf({ client }: CallContext, record: ScheduleFacts, extras?: ScheduleExtras): Schedule {
  return new Schedule(record, serializer, client, extras);
}

/**
 * Where a call goes that is about something with an id: to it, or to one of its verbs, such as `/jobs/ID/cancel`.
 * @throws {OptionsError} for the ids `.` and `..`, which every URL takes for steps along its path, encoded or not
 */
export function placeOf(
  kind: "blackouts" | "jobs" | "runs" | "schedules" | "tasks",
  id: string,
  verb?: string,
): { readonly path: string; readonly about: string } {
  if (id === "." || id === "..") {
    const message = `must be another id than "." and ".." over HTTP, because no URL can name these`;
    throw optionError(`${kind.slice(0, -1)} id`, "", message);
  }
  return { path: `/${kind}/${encodeURIComponent(id)}${verb === undefined ? "" : `/${verb}`}`, about: id };
}

/** Crontab text travels without a time zone, because it is read in that of the scheduler. It is read here too, so that
 *  its errors are found at once. */
export function wireTrigger(trigger: TriggerLike, where: string, spreading: Spreading): unknown {
  const rule = checkTrigger(trigger, where, "UTC", spreading);
  if (typeof trigger === "string") return { cron: trigger };
  return "cron" in trigger && trigger.timeZone === undefined ? { cron: trigger.cron } : rule.toJSON();
}

/** A pause as it travels. */
export function wirePause({ by, until, reason }: CheckedPause): object {
  return { by, until: until === undefined ? undefined : instantText(until), reason };
}
