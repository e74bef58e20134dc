import type { UptimeRecord } from "../../records/ledger.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";
import type { Ledger } from "../../stores/contract/ledger-types.ts";
import type { DataStore, SentHeartbeat } from "../../stores/data-store.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { ledgerCase } from "./ledger-makers.ts";
import { commit, extend, look, makeJob, makeTask, release, T0, take } from "./makers.ts";

const PROFILE: SchedulerProfile = { role: "worker", isResident: true, tasks: ["a", "b"], executors: ["inline"] };
const MINUTE_MS = 60_000;

/** A heartbeat of a scheduler that stays. */
async function heartbeat(
  store: DataStore,
  now: number,
  aliveUntil: number,
  { run = 1, profile = PROFILE, by = "scheduler-a" } = {},
): Promise<void> {
  await extend(store, [], { now, aliveUntil, profile, schedulerId: by, instanceId: `${by} ${run}#` });
}

/** A tick, which is alive for a minute. */
async function tick(store: DataStore, now: number, by = "scheduler-a"): Promise<void> {
  const profile = { ...PROFILE, isResident: false };
  const heartbeat: SentHeartbeat = { instanceId: `${by} 1#`, aliveUntil: now + MINUTE_MS, profile };
  await commit(store, { now, by, jobs: null, heartbeat });
}

function uptimeOf(since: number, until: number, fields: Partial<UptimeRecord> = {}): UptimeRecord {
  const { role, isResident, tasks } = PROFILE;
  return { identity: "scheduler-a", role, isResident, tasks, since, until, ...fields };
}

function uptimesOf(ledger: Ledger): Promise<UptimeRecord[]> {
  return ledger.getUptimes({ from: T0 - 1000 * MINUTE_MS, until: T0 + 1000 * MINUTE_MS });
}

export const uptimeCases: readonly DataStoreCase[] = [
  ledgerCase(["H21"], "uptimes: each heartbeat extends the uptime", async (store, ledger) => {
    await heartbeat(store, T0, T0 + 1000);
    equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 1000)], "the uptimes after the first heartbeat");
    await heartbeat(store, T0 + 500, T0 + 1500);
    await heartbeat(store, T0 + 1500, T0 + 2500);
    equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 2500)], "the uptimes after the third heartbeat");
  }),
  ledgerCase(["H21"], "uptimes: a heartbeat after the end begins another uptime", async (store, ledger) => {
    await heartbeat(store, T0, T0 + 1000);
    await heartbeat(store, T0 + 1001, T0 + 2001, { run: 2 });
    const uptimes = [uptimeOf(T0, T0 + 1000), uptimeOf(T0 + 1001, T0 + 2001)];
    equal(await uptimesOf(ledger), uptimes, "the uptimes");
  }),
  ledgerCase(["H21"], "uptimes: a scheduler that signs off ends its uptime", async (store, ledger) => {
    await heartbeat(store, T0, T0 + 9000);
    await heartbeat(store, T0 + 100, T0 + 100);
    await heartbeat(store, T0 + 100, T0 + 100);
    equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 100)], "the uptimes after it signed off");
    await heartbeat(store, T0 + 300, T0 + 900, { run: 2 });
    equal(
      await uptimesOf(ledger),
      [uptimeOf(T0, T0 + 100), uptimeOf(T0 + 300, T0 + 900)],
      "the uptimes after it came back",
    );
    await heartbeat(store, T0 + 950, T0 + 950, { run: 2 });
    equal(
      await uptimesOf(ledger),
      [uptimeOf(T0, T0 + 100), uptimeOf(T0 + 300, T0 + 900)],
      "after it signed off too late",
    );
  }),
  ledgerCase(["H21"], "uptimes: who never lived does not sign off", async (store, ledger) => {
    await heartbeat(store, T0, T0);
    await extend(store, [], { aliveUntil: null });
    equal(await uptimesOf(ledger), [], "the uptimes");
  }),
  ledgerCase(
    ["H21"],
    "uptimes: several instances of one identity are one uptime, until the last one ends",
    async (store, ledger) => {
      await heartbeat(store, T0, T0 + 5000, { run: 1 });
      await heartbeat(store, T0 + 100, T0 + 3000, { run: 2 });
      equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 5000)], "the uptimes of two runs");
      await heartbeat(store, T0 + 200, T0 + 200, { run: 1 });
      equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 3000)], "the uptimes after the first signed off");
      await heartbeat(store, T0 + 300, T0 + 300, { run: 2 });
      equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 300)], "the uptimes after both signed off");
    },
  ),
  ledgerCase(["H21"], "uptimes: each identity has its own, by the time at which they began", async (store, ledger) => {
    await heartbeat(store, T0 + 5, T0 + 1000, { by: "scheduler-a" });
    await heartbeat(store, T0, T0 + 2000, { by: "scheduler-b" });
    await heartbeat(store, T0 + 9, T0 + 3000, { by: "scheduler-a" });
    const uptimes = [uptimeOf(T0, T0 + 2000, { identity: "scheduler-b" }), uptimeOf(T0 + 5, T0 + 3000)];
    equal(await uptimesOf(ledger), uptimes, "the uptimes");
  }),
  ledgerCase(["H21"], "uptimes: the last heartbeat tells what the scheduler does", async (store, ledger) => {
    await heartbeat(store, T0, T0 + 1000);
    await heartbeat(store, T0 + 10, T0 + 1010, { profile: { ...PROFILE, role: "both", tasks: ["c"] } });
    const last = { role: "both", tasks: ["c"] } as const;
    equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 1010, last)], "the uptimes");
  }),
  ledgerCase(["H21"], "uptimes: a scheduler that starts is alive, where it takes over", async (store, ledger) => {
    const surrender = { schedulerId: "scheduler-a", instanceId: "scheduler-a 1#", profile: PROFILE };
    await store.giveUpLeases({ ...surrender, now: T0, aliveUntil: T0 + 1000 });
    equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 1000)], "the uptimes");
  }),
  ledgerCase(
    ["H22"],
    "uptimes: ticks are one uptime while no more than 15 minutes lie between them",
    async (store, ledger) => {
      const isResident = false;
      await tick(store, T0);
      await tick(store, T0 + 5 * MINUTE_MS);
      equal(await uptimesOf(ledger), [uptimeOf(T0, T0 + 6 * MINUTE_MS, { isResident })], "the uptimes after two ticks");
      await tick(store, T0 + 21 * MINUTE_MS);
      const first = uptimeOf(T0, T0 + 22 * MINUTE_MS, { isResident });
      equal(await uptimesOf(ledger), [first], "the uptimes after a tick 15 minutes after the end of the second");
      await tick(store, T0 + 37 * MINUTE_MS + 1);
      const second = uptimeOf(T0 + 37 * MINUTE_MS + 1, T0 + 38 * MINUTE_MS + 1, { isResident });
      equal(await uptimesOf(ledger), [first, second], "the uptimes after a tick that came later than that");
    },
  ),
  ledgerCase(["H23"], "uptimes: a look into a time finds the uptimes that touch it", async (store, ledger) => {
    await heartbeat(store, T0, T0 + 1000);
    await heartbeat(store, T0 + 2000, T0 + 3000, { run: 2 });
    await heartbeat(store, T0 + 500, T0 + 5000, { by: "scheduler-b" });
    const [a, b, c] = [
      uptimeOf(T0, T0 + 1000),
      uptimeOf(T0 + 500, T0 + 5000, { identity: "scheduler-b" }),
      uptimeOf(T0 + 2000, T0 + 3000),
    ];
    for (const [from, until, expected] of [
      [T0, T0, [a]],
      [T0 + 1000, T0 + 1500, [a, b]],
      [T0 + 1001, T0 + 1999, [b]],
      [T0 + 2500, T0 + 2500, [b, c]],
      [T0 + 3001, T0 + 9000, [b]],
      [T0 + 5001, T0 + 9000, []],
      [T0 - 900, T0 - 1, []],
    ] as const) {
      equal(await ledger.getUptimes({ from, until }), expected, `the uptimes from ${from - T0} until ${until - T0}`);
    }
  }),
  ledgerCase(
    ["H21", "H31", "V13"],
    "uptimes: one by a clock that was ahead stays until it is removed",
    async (store, ledger) => {
      const ahead = T0 + 500 * MINUTE_MS;
      await heartbeat(store, T0, T0 + 1000);
      await heartbeat(store, ahead, ahead + 1000);
      await heartbeat(store, T0 + 500, T0 + 1500);
      await heartbeat(store, T0 + 600, T0 + 600);
      await tick(store, T0 + 5000, "scheduler-b");
      const ticks = uptimeOf(T0 + 5000, T0 + 5000 + MINUTE_MS, { identity: "scheduler-b", isResident: false });
      const right = [uptimeOf(T0, T0 + 600), ticks];
      equal(await uptimesOf(ledger), [...right, uptimeOf(ahead, ahead + 1000)], "the uptimes");
      const seen = async (uptimeAfter: number) => (await look(store, { now: T0, uptimeAfter })).hasUptimeAfter;
      equal(await seen(ahead + 999), true, "whether an uptime ends after the instant before its end");
      equal(await seen(ahead + 1000), false, "whether an uptime ends after its end");
      await ledger.takeBackAfter(T0 + 5000, false);
      equal(await uptimesOf(ledger), [...right, uptimeOf(ahead, ahead + 1000)], "the uptimes that were to be kept");
      await ledger.takeBackAfter(T0 + 5000, true);
      equal(await uptimesOf(ledger), right, "the uptimes that began by then");
    },
  ),
  ledgerCase(
    ["H31"],
    "uptimes: what a clock that was ahead put off lasts as long from the present",
    async (store, ledger) => {
      const ahead = T0 + 500 * MINUTE_MS;
      const [now, error] = [T0 + 1000, { name: "Error", message: "busy", stack: "" }];
      await store.putTasks([makeTask({ maxRunningJobs: null })]);
      const right = makeJob({ id: "right", createdAt: T0, runAt: ahead + 9000 });
      await store.addJobs([makeJob({ id: "failed" }), makeJob({ id: "sleeps" }), right]);
      await take(store);
      const retry = { fence: 1, kind: "retry", failedAttempts: 1 } as const;
      const attemptHistory = [{ number: 1, startedAt: ahead, finishedAt: ahead, error }];
      const times = { startedAt: ahead, endedAt: null, wakeAt: ahead + 7000 };
      const step = { name: "settle", ...times, attempts: 1, version: null, value: null, cursor: null };
      const lease = { schedulerId: "scheduler-a", now: T0, until: T0 + MINUTE_MS, number: 1, isFirst: true };
      await store.saveJobStep({ ...lease, jobId: "sleeps", fence: 1, step });
      const sleep = { step: "settle", snoozes: 0 };
      await release(store, [
        { ...retry, jobId: "failed", runAt: ahead + 5000, attemptHistory },
        { ...retry, jobId: "sleeps", runAt: ahead + 7000, failedAttempts: 0, sleep },
      ]);
      await store.addJobs([makeJob({ id: "added", createdAt: ahead, runAt: ahead + 3000 })]);
      const runTimes = async () =>
        (await Promise.all(["added", "failed", "sleeps", "right"].map((id) => store.getJob(id)))).map(
          (job) => job?.runAt,
        );
      const expected = [now + 3000, now + 5000, now + 7000, ahead + 9000];
      await ledger.takeBackAfter(now, true);
      equal(await runTimes(), expected, "when the jobs run");
      const slept = [{ ...step, startedAt: now, wakeAt: now + 7000 }];
      equal(await store.getJobSteps("sleeps", T0), slept, "the sleep");
      await ledger.takeBackAfter(now, true);
      equal(await runTimes(), expected, "when they run after it was called again");
    },
  ),
];
