import * as v from "valibot";
import { optionError } from "../../core/option-errors.ts";
import { instantText } from "../../core/temporal.ts";
import type {
  BackfillFacts,
  BulkChange,
  LedgerCommands,
  ScheduleCommands,
  SkippedSchedules,
} from "../../scheduler/commands/commands.ts";
import { checkOrder, checkScheduleOptions } from "../../scheduler/options/check-options.ts";
import type {
  CheckedBackfill,
  CheckedBulk,
  CheckedOccurrenceFilter,
  CheckedPause,
  CheckedRevision,
  CheckedRunNow,
  CheckedScheduleChangeFilter,
  CheckedScheduleChanges,
  CheckedScheduleFilter,
  CheckedUnpause,
  ScheduleSelection,
} from "../../scheduler/options/checked-options.ts";
import type { ScheduleOptions } from "../../scheduler/options/options.ts";
import { type Question, questionText } from "../../scheduler/options/question.ts";
import { Explanation } from "../../scheduler/views/explanation.ts";
import type { Job } from "../../scheduler/views/job.ts";
import { Occurrence } from "../../scheduler/views/occurrence.ts";
import type { Page } from "../../scheduler/views/page.ts";
import { PreviewedFire } from "../../scheduler/views/previewed-fire.ts";
import type { Schedule, ScheduleExtras, ScheduleFacts } from "../../scheduler/views/schedule.ts";
import { ScheduleChange } from "../../scheduler/views/schedule-change.ts";
import type { TriggerLike } from "../../triggers/short-trigger.ts";
import { explanationSchema } from "../wire/explanation.ts";
import { occurrenceSchema } from "../wire/occurrence.ts";
import { wireFilter, wireOptions } from "../wire/options.ts";
import { listedScheduleSchema, previewedFireSchema, scheduleSchema } from "../wire/schedule.ts";
import { scheduleChangeSchema } from "../wire/schedule-change.ts";
import { instant, orNull } from "../wire/values.ts";
import {
  BULK_MS,
  type CallContext,
  ownKey,
  placeOf,
  readBulk,
  readJob,
  readPage,
  scheduleOf,
  wholeList,
  wirePause,
  wireTrigger,
} from "./context.ts";
import { taskIdOf, travelling } from "./task-reference.ts";

/** What a client does with schedules. */
export class ScheduleCalls implements ScheduleCommands, LedgerCommands {
  readonly #context: CallContext;

  constructor(context: CallContext) {
    this.#context = context;
  }

  async add(task: unknown, trigger: TriggerLike, options: ScheduleOptions): Promise<Schedule> {
    const where = "addSchedule()";
    checkOrder(task, trigger, where);
    const checked = checkScheduleOptions(options, where);
    const key = await travelling(task, checked.payload, checked.concurrencyKey);
    const { ids, clock, requester } = this.#context;
    // With an id, a call whose answer was lost may be made once more.
    const id = checked.id ?? ids.next(clock.now());
    const { conflictPolicy, ifRevision, requestHash: _, ...settings } = checked;
    const body = {
      ...wireOptions(settings, options),
      ...{ id, taskId: taskIdOf(task), trigger: wireTrigger(trigger, where, checked), conflictPolicy },
      ...(key === undefined ? {} : { concurrencyKey: key }),
    };
    if (ifRevision !== undefined) {
      if (checked.id === undefined || conflictPolicy !== "replace") {
        throw optionError(where, "ifRevision", 'goes together with an id and conflictPolicy "replace" alone');
      }
      return this.#ask("PUT", id, { body: { ...body, id: undefined, conflictPolicy: undefined }, ifRevision });
    }
    // Whether the id was there before the call, or is there because of it, nobody could tell afterwards.
    const isRepeatable = conflictPolicy !== "error" || checked.id === undefined;
    const call = { method: "POST", path: "/schedules", body, about: id, isRepeatable } as const;
    return scheduleOf(this.#context, await requester.read(call, scheduleSchema()));
  }

  get(id: string): Promise<Schedule> {
    return this.#ask("GET", id);
  }

  async page({ include = {}, ids, ...filter }: CheckedScheduleFilter): Promise<Page<Schedule>> {
    const convert = ({ next, runs, stats, ...record }: ScheduleFacts & ScheduleExtras): Schedule =>
      scheduleOf(this.#context, record, {
        ...(next === undefined ? {} : { next }),
        ...(runs === undefined ? {} : { runs }),
        ...(stats === undefined ? {} : { stats }),
      });
    const { stats: hasStats = false, total, facets, ...counted } = include;
    const counts = Object.entries(counted).map(([name, count]) => `${name}:${count}`);
    const words = hasStats ? [...counts, "stats"] : counts;
    const { path, query } = wholeList("/schedules", { total, facets }, ["payload", ...words]);
    // An id may have a comma.
    const list = { path, query: { ...query, ids } };
    return readPage(this.#context, list, filter, listedScheduleSchema(), convert);
  }

  async update(id: string, changes: CheckedScheduleChanges, options: CheckedRevision): Promise<Schedule> {
    const where = "updateSchedule()";
    const { ifRevision, ...note } = options;
    if ("payload" in changes && changes.payload === undefined) {
      const message = "must be a value over HTTP, which has no undefined; pass null, or leave payload out to keep it";
      throw optionError(where, "payload", message);
    }
    if ("payload" in changes) await travelling(id, changes.payload, null);
    const { trigger, ...others } = changes;
    const rule = trigger === undefined ? {} : { trigger: wireTrigger(trigger, where, { id }) };
    // A repeated call could fire the schedule once more.
    const isRepeatable = changes.nextFireTime === undefined && ifRevision === undefined;
    return this.#ask("PATCH", id, { body: { ...wireOptions(others), ...rule, ...note }, isRepeatable, ifRevision });
  }

  async remove(id: string, { by, ifRevision }: CheckedRevision): Promise<void> {
    const headers = ifMatch(ifRevision);
    await this.#context.requester.call({ method: "DELETE", ...placeOf("schedules", id), query: { by }, headers });
  }

  pause(id: string, options: CheckedPause): Promise<Schedule> {
    return this.#ask("POST", id, { verb: "pause", body: wirePause(options) });
  }

  unpause(id: string, options: CheckedUnpause): Promise<Schedule> {
    return this.#ask("POST", id, { verb: "unpause", body: wireUnpause(options) });
  }

  async changeMany(
    { ids, all, signal, ...filter }: CheckedBulk<ScheduleSelection>,
    change: BulkChange,
  ): Promise<{ count: number } & SkippedSchedules> {
    signal?.throwIfAborted();
    const selection = ids !== undefined ? { ids } : all ? { all } : { filter: wireFilter(filter) };
    const note = change.action === "pause" ? wirePause(change) : wireUnpause(change);
    const body = { ...selection, action: change.action, ...note };
    return readBulk(this.#context, { path: "/schedules/bulk", body, signal });
  }

  async runNow(id: string, { requestHash: _, ...options }: CheckedRunNow): Promise<Job> {
    const body = options.idempotencyKey === undefined ? ownKey(this.#context) : wireOptions(options);
    return readJob(this.#context, { method: "POST", ...placeOf("schedules", id, "run"), body });
  }

  /** It may be made once more, because the same call is the same backfill. */
  async backfill(id: string, { signal, ...options }: CheckedBackfill): Promise<BackfillFacts> {
    signal?.throwIfAborted();
    const call = { method: "POST", ...placeOf("schedules", id, "backfill"), body: wireOptions(options) } as const;
    return this.#context.requester.read({ ...call, signal, waitMs: BULK_MS, isRepeatable: true }, backfillSchema());
  }

  async preview(id: string, options: { limit: number; from?: number | undefined }): Promise<PreviewedFire[]> {
    const { limit, from } = options;
    const query = { limit: Math.max(limit, 1), from: from === undefined ? undefined : instantText(from) };
    const call = { method: "GET", ...placeOf("schedules", id, "preview"), query } as const;
    const { timeZone, items } = await this.#context.requester.read(call, previewSchema());
    return items.slice(0, limit).map((facts) => new PreviewedFire({ ...facts, timeZone }));
  }

  async explain(id: string, question: Question): Promise<Explanation> {
    const query = { at: questionText(question) };
    const call = { method: "GET", ...placeOf("schedules", id, "explain"), query } as const;
    return new Explanation(await this.#context.requester.read(call, explanationSchema()));
  }

  async occurrences(id: string, filter: CheckedOccurrenceFilter): Promise<Page<Occurrence>> {
    const list = placeOf("schedules", id, "occurrences");
    return readPage(this.#context, list, filter, occurrenceSchema(), (facts) => new Occurrence(facts));
  }

  async changes(id: string, filter: CheckedScheduleChangeFilter): Promise<Page<ScheduleChange>> {
    const list = placeOf("schedules", id, "changes");
    return readPage(this.#context, list, filter, scheduleChangeSchema(), (facts) => new ScheduleChange(facts));
  }

  async #ask(
    method: "GET" | "POST" | "PUT" | "PATCH",
    id: string,
    { verb, body, ifRevision, isRepeatable = ifRevision === undefined }: AskOptions = {},
  ): Promise<Schedule> {
    const headers = ifMatch(ifRevision);
    const call = { method, ...placeOf("schedules", id, verb), body, headers, isRepeatable };
    return scheduleOf(this.#context, await this.#context.requester.read(call, scheduleSchema()));
  }
}

function wireUnpause({ by, resumeFrom }: CheckedUnpause): object {
  return { by, resumeFrom: typeof resumeFrom === "number" ? instantText(resumeFrom) : resumeFrom };
}

interface AskOptions {
  readonly verb?: string;
  readonly body?: object;
  readonly ifRevision?: number | undefined;
  /** Default: unless a repetition would find the revision that the first try made. */
  readonly isRepeatable?: boolean;
}

function ifMatch(ifRevision: number | undefined): Readonly<Record<string, string>> {
  return ifRevision === undefined ? {} : { "if-match": `"${ifRevision}"` };
}

const backfillSchema = () =>
  v.object({
    count: v.number(),
    first: orNull(instant()),
    last: orNull(instant()),
    ran: v.number(),
    coalesced: v.number(),
    coalescedInto: orNull(instant()),
    backfillId: v.nullable(v.string()),
  });

const previewSchema = () =>
  v.object({
    timeZone: v.string(),
    items: v.array(previewedFireSchema()),
  });
