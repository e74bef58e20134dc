/** The key of an option of `runJob` that only this package knows: a listener that is told the id of the job as soon as
 *  the job is added. A call that waits for the end of the job says nothing of that by itself. It is registered, because
 *  a program may have the package twice. */
export const JOB_ADDED: unique symbol = Symbol.for("escapement.jobAdded");

/** Tells the listener of the options of `runJob`, where there is one. */
export function tellJobAdded(options: object, jobId: string): void {
  (options as { [JOB_ADDED]?: (jobId: string) => void })[JOB_ADDED]?.(jobId);
}
