import { FAILURE_KEPT_MS } from "../../core/limits.ts";
import type { JobRecord } from "../../records/job.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { cancel, LEASE_MS, leasedJob, lookedAt, makeJob, makeSchedule, planOf, step, T0, take } from "./makers.ts";

const LATE = T0 + LEASE_MS;

/** How long results of a job are kept, and then how long those of its failures are, by its settings. */
const KEPT: readonly (readonly [settings: Partial<JobRecord>, resultMs: number, failureMs: number])[] = [
  [{ resultExpirationMs: 1000 }, 1000, FAILURE_KEPT_MS],
  [{ resultExpirationMs: 2 * FAILURE_KEPT_MS }, 2 * FAILURE_KEPT_MS, 2 * FAILURE_KEPT_MS],
  [{ resultExpirationMs: 0 }, 0, 0],
  [{ resultExpirationMs: 0, failureExpirationMs: 5000 }, 0, 5000],
  [{ resultExpirationMs: 5000, failureExpirationMs: 0 }, 5000, 0],
];

/** What becomes of the failures of jobs. */
export const failureCases: readonly DataStoreCase[] = [
  ...KEPT.map(
    ([settings, resultMs, failureMs]): DataStoreCase => ({
      name: `failures: a store keeps what it ends by itself as the job says (${JSON.stringify(settings)})`,
      rules: ["R21"],
      async run({ open }) {
        const store = await open();
        const keptFor = async (jobId: string, now: number): Promise<number> =>
          ((await store.getJobResult(jobId, now))?.expiresAt ?? now) - now;
        await leasedJob(store, { id: "lost", maxRecoveries: 0, ...settings });
        const { ended } = await take(store, { now: LATE });
        equal(
          ended.map(({ outcome, expiresAt }) => [outcome, expiresAt - LATE]),
          [["abandoned", failureMs]],
          "what the step ended",
        );
        await store.addJobs([
          makeJob({ id: "cancelled", ...settings }),
          makeJob({ id: "late", runAt: T0 + 1000, startDeadline: T0 + 2000, ...settings }),
        ]);
        await cancel(store, "cancelled", T0);
        await step(store, { now: T0 + 2001, queues: [], endsMissed: true });
        equal(
          [await keptFor("lost", LATE), await keptFor("cancelled", T0), await keptFor("late", T0 + 2001)],
          [failureMs, resultMs, failureMs],
          "for how long",
        );
      },
    }),
  ),
  {
    name: "failures: the jobs of a schedule and of an addition keep failureExpirationMs, and have none without it",
    rules: ["R21"],
    async run({ open }) {
      const store = await open();
      const schedules = [makeSchedule({ id: "with", failureExpirationMs: 7000 }), makeSchedule({ id: "without" })];
      for (const schedule of schedules) {
        const [due] = await lookedAt(store, schedule);
        const { acquired } = await step(store, due === undefined ? {} : { plans: [planOf(due)] });
        equal(
          acquired.map(({ failureExpirationMs }) => failureExpirationMs),
          [schedule.failureExpirationMs],
          `the job of ${schedule.id}`,
        );
        equal((await store.getSchedule(schedule.id))?.failureExpirationMs, schedule.failureExpirationMs, schedule.id);
      }
      await store.addJobs([makeJob({ id: "own", failureExpirationMs: 3 }), makeJob({ id: "other" })]);
      const [own, other] = [await store.getJob("own"), await store.getJob("other")];
      equal([own?.failureExpirationMs, other?.failureExpirationMs], [3, undefined], "the jobs");
    },
  },
];
