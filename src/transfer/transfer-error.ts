import { EscapementError } from "../core/errors.ts";

/** One problem of an exported text. */
export interface TransferIssue {
  /** The number of the line, from 1 on. */
  readonly line: number;
  readonly message: string;
}

/** A text that `importStore` does not take: it is no export, it was cut off, its version is newer, or some of its lines
 *  do not fit. `issues` has the first 50 problems, each with its line. Nothing of the text was imported. */
export class TransferError extends EscapementError {
  static override readonly errorName: string = "TransferError";
  readonly code = "transfer";
  readonly issues: readonly TransferIssue[];

  constructor(issues: readonly TransferIssue[]) {
    const [first] = issues;
    const lines = issues.map(({ line, message }) => `line ${line}: ${message}`);
    super(
      first !== undefined && issues.length === 1
        ? `importStore(): ${lines[0]}`
        : [`importStore(): ${issues.length} problems`, ...lines].join("\n- "),
    );
    this.issues = issues;
  }
}
