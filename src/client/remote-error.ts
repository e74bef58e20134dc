import { EscapementError } from "../core/errors.ts";

/**
 * What a router, or what stands in front of it, answered in place of what was asked for: the token is missing or wrong
 * (`unauthorized`), may not do this (`forbidden`), or there is no router at the URL (`notFound`), for example. What the
 * scheduler behind the router refuses has the error that the scheduler itself throws.
 */
export class RemoteError extends EscapementError {
  static override readonly errorName: string = "RemoteError";
  /** The `code` of the answer, or one that its status stands for. */
  readonly code: string;
  /** The status of the answer. */
  readonly status: number;
  /** The job that `runJob` has added, whose end it could not wait for; absent for every other call. */
  declare readonly jobId?: string;

  constructor(message: string, facts: { code: string; status: number; cause?: unknown }) {
    super(message, facts);
    this.code = facts.code;
    this.status = facts.status;
  }
}
