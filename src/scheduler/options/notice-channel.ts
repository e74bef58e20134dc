import type { NoticeType } from "../../records/notice.ts";
import type { JobContext } from "../scheduler-client.ts";
import type { TaskSettings } from "./options.ts";

/** A way for notices of changes of state, such as a `webhook` of `escapement/notices`. */
export interface NoticeChannel {
  /** Unique in a scheduler. The notices are jobs of the task `escapement.notices.NAME`. */
  readonly name: string;
  /** Which changes of state it asks for. */
  readonly on: readonly NoticeType[];
  /** Only those of these schedules. Default: all, and pauses of tasks. */
  readonly schedules?: readonly string[] | undefined;
  /** Settings of the task. */
  readonly settings?: Omit<TaskSettings, "concurrencyKey" | "metadata"> | undefined;
  /** Sends the notice that a job is: the metadata of `context.job` says what happened. When it rejects, the job is
   *  retried by the settings. */
  send(context: JobContext): Promise<unknown>;
}
