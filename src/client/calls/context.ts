import type { Clock } from "../../core/clock.ts";
import type { IdGenerator } from "../../core/ids.ts";
import { optionError } from "../../core/option-errors.ts";
import { checkId } from "../../scheduler/options/check-options.ts";
import { Job, type JobClient } from "../../scheduler/views/job.ts";
import { JobResult, type JobResultFacts } from "../../scheduler/views/job-result.ts";
import { Schedule, type ScheduleClient, type ScheduleFacts } from "../../scheduler/views/schedule.ts";
import type { Requester } from "../http/requester.ts";
import type { ReadJob } from "../wire/job.ts";
import { serializer } from "./task-reference.ts";

/** What the calls of one client share. */
export interface CallContext {
  readonly requester: Requester;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  /** The client itself, for the verbs of schedules and jobs. */
  readonly client: JobClient & ScheduleClient;
}

export function jobOf({ client }: CallContext, { record, hasEnded }: ReadJob): Job {
  return new Job(record, serializer, client, hasEnded);
}

export function resultOf(record: JobResultFacts): JobResult {
  return new JobResult(record, serializer);
}

export function scheduleOf({ client }: CallContext, record: ScheduleFacts): Schedule {
  return new Schedule(record, serializer, client);
}

/**
 * The path of something with an id, or of one of its verbs: `/jobs/ID/cancel`.
 * @throws {OptionsError} for the ids `.` and `..`, which every URL takes for steps along its path, encoded or not
 */
export function pathOf(kind: "jobs" | "schedules" | "tasks", id: string, verb?: string): string {
  checkId(id, `${kind.slice(0, -1)} id`);
  if (id === "." || id === "..") {
    const message = `must be another id than "." and ".." over HTTP, because no URL can name these`;
    throw optionError(`${kind.slice(0, -1)} id`, "", message);
  }
  return `/${kind}/${encodeURIComponent(id)}${verb === undefined ? "" : `/${verb}`}`;
}
