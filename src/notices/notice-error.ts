import { EscapementError } from "../core/errors.ts";

/** A notice that could not be sent. Neither its message nor anything else of it has the URL, a secret, or text of the
 *  receiver, because errors of jobs are stored and logged. */
export class NoticeError extends EscapementError {
  static override readonly errorName: string = "NoticeError";
  readonly code = "notice";
  /** The status of the answer; null when there was none. */
  readonly status: number | null;

  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}
