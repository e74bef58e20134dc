import { optionError } from "../../core/option-errors.ts";

/** How many characters of the hash of a request stand at the end of the id of its job. */
const SHOWN = 12;

/** The id of a job that a request with an idempotency key adds. It ends with the hash of the request, so that another
 *  request under the same key is told from a repetition for as long as a store knows which job the key stands for. */
export function jobIdOf(id: string, requestHash: string | undefined): string {
  return requestHash === undefined ? id : id.slice(0, -SHOWN) + requestHash.slice(0, SHOWN);
}

/** @param jobId the job that the key stands for @throws {OptionsError} when another request added it */
export function assertOwnJob(jobId: string, requestHash: string | undefined, where: string): void {
  if (requestHash !== undefined && !jobId.endsWith(requestHash.slice(0, SHOWN))) throw otherRequest(where);
}

/** The error for a key that stands for another request. */
export function otherRequest(where: string): Error {
  return optionError(
    where,
    "idempotencyKey",
    "stands for another request already; send this one with a key of its own",
  );
}
