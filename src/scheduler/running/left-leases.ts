import { hostName, isProcessAlive } from "../../core/host.ts";
import type { JobRecord } from "../../records/job.ts";
import type { Environment } from "../environment.ts";
import type { JobRunner } from "./job-runner.ts";
import { HEARTBEAT_SLACK_MS_MAX, LEFT_LEASES_PAGE_SIZE, LEFT_LEASES_PAGES_MAX } from "./limits.ts";

/** Tells, after a start, of jobs that wait because a process that died still holds their leases. Looks at the oldest
 *  jobs only. A failure is not told: the scheduler works without the answer. */
export async function tellLeftLeases(env: Environment, runner: JobRunner): Promise<void> {
  try {
    const left = await leftLeases(env, runner);
    if (left.length === 0) return;
    const holders = [...new Set(left.map(({ acquiredBy }) => `"${acquiredBy}"`))].join(", ");
    const until = Math.max(...left.map(({ acquiredUntil }) => acquiredUntil ?? 0));
    // A heartbeat may still come, and the clock of the holder may have been wrong.
    const beatMs = env.leaseMs / 3;
    const waitMs = Math.min(
      Math.max(until - env.clock.now(), beatMs + HEARTBEAT_SLACK_MS_MAX),
      env.leaseMs + 2 * beatMs,
    );
    const seconds = Math.ceil(waitMs / 1000);
    const jobs = left.length === 1 ? "1 job is" : `${left.length} jobs are`;
    env.logger.warn(
      `escapement: ${jobs} still leased to ${holders}, of an earlier process that seems to have died; what it has ` +
        `left runs again when its leases end, in ${seconds} s at most (see leaseDuration)`,
    );
  } catch {
    // The loop tells of an outage.
  }
}

async function leftLeases({ store, clock, identity, leaseMs }: Environment, runner: JobRunner): Promise<JobRecord[]> {
  const now = clock.now();
  const alive = new Set((await store.getSchedulers(now)).map((scheduler) => scheduler.identity));
  // An earlier run of this identity holds what is ours by name and does not run here.
  alive.delete(identity);
  const isLeft = ({ id, acquiredBy, acquiredUntil }: JobRecord): boolean =>
    acquiredBy !== null &&
    (acquiredUntil ?? 0) > now &&
    // Later leases began while the store was asked.
    (acquiredUntil ?? 0) < now + leaseMs &&
    (acquiredBy === identity ? !runner.holds(id) : !alive.has(acquiredBy) || isGone(acquiredBy));
  const left: JobRecord[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < LEFT_LEASES_PAGES_MAX; pages++) {
    const page: { readonly items: JobRecord[]; readonly cursor: string | null } = await store.getJobs({
      limit: LEFT_LEASES_PAGE_SIZE,
      cursor,
    });
    left.push(...page.items.filter(isLeft));
    cursor = page.cursor;
    if (cursor === null) break;
  }
  return left;
}

/** Whether an identity is a default one of this host, and its process does not live any more. */
function isGone(identity: string): boolean {
  const [, host, pid] = /^(.+)-(\d+)-[0-9a-z]{6}$/.exec(identity) ?? [];
  return host !== undefined && host === hostName() && isProcessAlive(Number(pid)) === false;
}
