import type { Issue } from "../core/errors.ts";

/** A request that is refused for a reason that no error of the library has. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly issues: readonly Issue[] | undefined;

  constructor(status: number, code: string, detail: string, issues?: readonly Issue[]) {
    super(detail);
    this.status = status;
    this.code = code;
    this.issues = issues;
  }
}
