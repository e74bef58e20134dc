import * as v from "valibot";
import { mustBe, optionError } from "../../core/option-errors.ts";
import { type InstantLike, instantText, type Temporal, zonedOf } from "../../core/temporal.ts";
import { type Asked, questionOf, questionText } from "../../scheduler/ledger/asked.ts";
import {
  checkChangeOptions,
  checkNoTrigger,
  checkOccurrenceFilter,
  checkPreviewOptions,
  checkRunNowOptions,
  checkScheduleChangeFilter,
  checkScheduleChanges,
  checkScheduleFilter,
  checkScheduleOptions,
  checkTrigger,
  checkUnpauseOptions,
} from "../../scheduler/options/check-options.ts";
import type {
  ChangeOptions,
  OccurrenceFilterOptions,
  ScheduleChangeFilterOptions,
  ScheduleFilterOptions,
  ScheduleOptions,
  ScheduleUpdate,
} from "../../scheduler/options/options.ts";
import type { NamedFunction, Task } from "../../scheduler/scheduler-client.ts";
import { Explanation } from "../../scheduler/views/explanation.ts";
import type { Job } from "../../scheduler/views/job.ts";
import { Occurrence } from "../../scheduler/views/occurrence.ts";
import { type Listing, listingOf, mapPage } from "../../scheduler/views/page.ts";
import type { Schedule } from "../../scheduler/views/schedule.ts";
import { ScheduleChange } from "../../scheduler/views/schedule-change.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import { explanationSchema } from "../wire/explanation.ts";
import { jobSchema } from "../wire/job.ts";
import { occurrenceSchema } from "../wire/occurrence.ts";
import { wireFilter, wireOptions } from "../wire/options.ts";
import { pageSchema } from "../wire/pages.ts";
import { scheduleSchema } from "../wire/schedule.ts";
import { scheduleChangeSchema } from "../wire/schedule-change.ts";
import { instant } from "../wire/values.ts";
import { type CallContext, jobOf, pathOf, scheduleOf } from "./context.ts";
import { taskIdOf, travelling } from "./task-reference.ts";

/** Text that arrives in a header as it was sent. */
const HEADER = /^[!-~]([ -~]*[!-~])?$/;

/** What a client does with schedules; documented at `SchedulerClient`. */
export class ScheduleCalls {
  readonly #context: CallContext;

  constructor(context: CallContext) {
    this.#context = context;
  }

  async add(
    task: Task | string | NamedFunction,
    trigger: Trigger | string,
    options: ScheduleOptions,
  ): Promise<Schedule> {
    const where = "addSchedule()";
    const checked = checkScheduleOptions(options, where);
    checkNoTrigger(task, where);
    const key = await travelling(task, checked.payload, checked.concurrencyKey);
    const { ids, clock, requester } = this.#context;
    // With an id, a call whose answer was lost may be made once more.
    const id = checked.id ?? ids.next(clock.now());
    const { conflictPolicy } = checked;
    const body = {
      ...wireOptions(options, checked),
      ...{ id, taskId: taskIdOf(task), trigger: wireTrigger(trigger, where), conflictPolicy },
      ...(key === undefined ? {} : { concurrencyKey: key }),
    };
    // Whether the id was there before the call, or is there because of it, nobody could tell afterwards.
    const isRepeatable = conflictPolicy !== "error" || checked.id === undefined;
    const call = { method: "POST", path: "/schedules", body, about: id, isRepeatable } as const;
    return scheduleOf(this.#context, await requester.read(call, scheduleSchema()));
  }

  get(id: string): Promise<Schedule> {
    return this.#ask("GET", id);
  }

  list(filter: ScheduleFilterOptions): Listing<Schedule> {
    return listingOf(filter, async (one) => {
      const query = wireFilter(checkScheduleFilter(one, "getSchedules()"));
      const call = { method: "GET", path: "/schedules", query } as const;
      const page = await this.#context.requester.read(call, pageSchema(scheduleSchema()));
      return mapPage(page, (record) => scheduleOf(this.#context, record));
    });
  }

  async update(id: string, changes: ScheduleUpdate, options: ChangeOptions): Promise<Schedule> {
    const where = "updateSchedule()";
    const checked = checkScheduleChanges(changes, where);
    const note = checkChangeOptions(options, where);
    if ("payload" in changes && changes.payload === undefined) {
      const message = "must be a value over HTTP, which has no undefined; pass null, or leave payload out to keep it";
      throw optionError(where, "payload", message);
    }
    if ("payload" in changes) await travelling(id, changes.payload, null);
    const { trigger } = checked;
    const rule = trigger === undefined ? {} : { trigger: wireTrigger(trigger, where) };
    // A repeated call could fire the schedule once more.
    const isRepeatable = checked.nextFireTime === undefined;
    return this.#ask("PATCH", id, undefined, { ...wireOptions(changes, checked), ...rule, ...note }, isRepeatable);
  }

  async remove(id: string, options: ChangeOptions): Promise<void> {
    const { by } = checkChangeOptions(options, "removeSchedule()");
    await this.#context.requester.call({ method: "DELETE", path: pathOf("schedules", id), query: { by }, about: id });
  }

  async pause(id: string, options: ChangeOptions): Promise<Schedule> {
    return this.#ask("POST", id, "pause", checkChangeOptions(options, "pauseSchedule()"));
  }

  async unpause(id: string, options: { resumeFrom?: "now" | InstantLike } & ChangeOptions): Promise<Schedule> {
    const { resumeFrom, by } = checkUnpauseOptions(options, "unpauseSchedule()");
    const from = typeof resumeFrom === "number" ? instantText(resumeFrom) : resumeFrom;
    return this.#ask("POST", id, "unpause", { by, resumeFrom: from });
  }

  /** Without a key, the job may have run and ended by the time of a repetition, which would add another one. */
  async runNow(id: string, options: { idempotencyKey?: string }): Promise<Job> {
    const { idempotencyKey: key } = checkRunNowOptions(options, "runScheduleNow()");
    if (key !== undefined && !HEADER.test(key)) {
      const message = mustBe("text that a header can carry: ASCII, without spaces around it", key);
      throw optionError("runScheduleNow()", "idempotencyKey", message);
    }
    const headers: Readonly<Record<string, string>> = key === undefined ? {} : { "idempotency-key": key };
    const path = pathOf("schedules", id, "run");
    const call = { method: "POST", path, headers, about: id, isRepeatable: key !== undefined } as const;
    return jobOf(this.#context, await this.#context.requester.read(call, jobSchema()));
  }

  async preview(id: string, options: { limit: number; from?: InstantLike }): Promise<Temporal.ZonedDateTime[]> {
    const { limit, from } = checkPreviewOptions(options, "previewSchedule()");
    const query = { limit: Math.max(limit, 1), from: from === undefined ? undefined : instantText(from) };
    const call = { method: "GET", path: pathOf("schedules", id, "preview"), query, about: id } as const;
    const { timeZone, items } = await this.#context.requester.read(call, previewSchema());
    return items.slice(0, limit).map(({ at }) => zonedOf(at, timeZone));
  }

  async explain(id: string, at: Asked): Promise<Explanation> {
    const path = pathOf("schedules", id, "explain");
    const query = { at: questionText(questionOf(at, "explain()")) };
    const call = { method: "GET", path, query, about: id } as const;
    return new Explanation(await this.#context.requester.read(call, explanationSchema()));
  }

  occurrences(id: string, filter: OccurrenceFilterOptions): Listing<Occurrence> {
    return listingOf(filter, async (one) => {
      const path = pathOf("schedules", id, "occurrences");
      const query = wireFilter(checkOccurrenceFilter(one, "getOccurrences()"));
      const call = { method: "GET", path, query, about: id } as const;
      const page = await this.#context.requester.read(call, pageSchema(occurrenceSchema()));
      return mapPage(page, (facts) => new Occurrence(facts));
    });
  }

  changes(id: string, filter: ScheduleChangeFilterOptions): Listing<ScheduleChange> {
    return listingOf(filter, async (one) => {
      const path = pathOf("schedules", id, "changes");
      const query = wireFilter(checkScheduleChangeFilter(one, "getScheduleChanges()"));
      const call = { method: "GET", path, query, about: id } as const;
      const page = await this.#context.requester.read(call, pageSchema(scheduleChangeSchema()));
      return mapPage(page, (facts) => new ScheduleChange(facts));
    });
  }

  async #ask(
    method: "GET" | "POST" | "PATCH",
    id: string,
    verb?: string,
    body?: object,
    isRepeatable = true,
  ): Promise<Schedule> {
    const call = { method, path: pathOf("schedules", id, verb), body, about: id, isRepeatable };
    return scheduleOf(this.#context, await this.#context.requester.read(call, scheduleSchema()));
  }
}

/** Crontab text travels without a time zone, because it is read in that of the scheduler. It is read here too, so that
 *  its errors are found at once. */
function wireTrigger(trigger: Trigger | string, where: string): unknown {
  const rule = checkTrigger(trigger, where, "UTC");
  return typeof trigger === "string" ? { cron: trigger } : rule.toJSON();
}

const previewSchema = () => v.object({ timeZone: v.string(), items: v.array(v.object({ at: instant() })) });
