/** Most attempts whose trace is remembered. The log tells of an attempt's end when the store has taken its outcome, so
 *  that this has to be more than run at once. */
const RUNS_MAX = 10_000;

/** The traces of the attempts that ran here last. */
export class RecentRuns {
  readonly #traceIds = new Map<string, string>();

  add(jobId: string, fence: number, traceId: string): void {
    const key = keyOf(jobId, fence);
    this.#traceIds.set(key, traceId);
    const [oldest] = this.#traceIds.size > RUNS_MAX ? this.#traceIds.keys() : [];
    if (oldest !== undefined) this.#traceIds.delete(oldest);
  }

  traceIdOf(jobId: string, fence: number): string | undefined {
    return this.#traceIds.get(keyOf(jobId, fence));
  }
}

function keyOf(jobId: string, fence: number): string {
  return `${fence} ${jobId}`;
}
