import type { AbortSignal } from "../../core/abort-signal.ts";
import type { NoticeType } from "../../records/notice.ts";
import type { Metadata } from "../../records/policies.ts";
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
  send(context: NoticeContext): Promise<unknown>;
}

/** What a channel gets of the `JobContext` of a notice. */
export interface NoticeContext {
  /** The job that is the notice: its metadata says what happened. */
  readonly job: { readonly id: string; readonly metadata: Metadata };
  readonly signal: AbortSignal;
  /** For the error of the run that failed. */
  readonly scheduler: {
    getJobResult(id: string): Promise<{ readonly error: { name: string; message: string } | null } | null>;
  };
}
