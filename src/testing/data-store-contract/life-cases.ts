import type { LifeRecord } from "../../records/ledger.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";
import type { DataStore, SignOfLife } from "../../stores/data-store.ts";
import type { Ledger } from "../../stores/ledger.ts";
import { equal } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import { ledgerCase } from "./ledger-makers.ts";
import { extend, step, T0 } from "./makers.ts";

const PROFILE: SchedulerProfile = { role: "worker", isResident: true, tasks: ["a", "b"], executors: ["inline"] };
const MINUTE_MS = 60_000;

/** A sign of life of a scheduler that stays. */
async function sign(
  store: DataStore,
  now: number,
  aliveUntil: number,
  { run = 1, profile = PROFILE, by = "scheduler-a" } = {},
): Promise<void> {
  await extend(store, [], { now, aliveUntil, profile, schedulerId: by, incarnation: `${by} ${run}#` });
}

/** A tick, which is alive for a minute. */
async function tick(store: DataStore, now: number, by = "scheduler-a"): Promise<void> {
  const profile = { ...PROFILE, isResident: false };
  const life: SignOfLife = { incarnation: `${by} 1#`, aliveUntil: now + MINUTE_MS, profile };
  await step(store, { now, by, jobs: null, sign: life });
}

function lifeOf(since: number, until: number, fields: Partial<LifeRecord> = {}): LifeRecord {
  const { role, isResident, tasks } = PROFILE;
  return { identity: "scheduler-a", role, isResident, tasks, since, until, ...fields };
}

function livesOf(ledger: Ledger): Promise<LifeRecord[]> {
  return ledger.getLives({ from: T0 - 1000 * MINUTE_MS, until: T0 + 1000 * MINUTE_MS });
}

export const lifeCases: readonly DataStoreCase[] = [
  ledgerCase(["H21"], "lives: each sign of life extends the life", async (store, ledger) => {
    await sign(store, T0, T0 + 1000);
    equal(await livesOf(ledger), [lifeOf(T0, T0 + 1000)], "the lives after the first sign");
    await sign(store, T0 + 500, T0 + 1500);
    await sign(store, T0 + 1500, T0 + 2500);
    equal(await livesOf(ledger), [lifeOf(T0, T0 + 2500)], "the lives after the third sign");
  }),
  ledgerCase(["H21"], "lives: a sign after the end begins another life", async (store, ledger) => {
    await sign(store, T0, T0 + 1000);
    await sign(store, T0 + 1001, T0 + 2001, { run: 2 });
    const lives = [lifeOf(T0, T0 + 1000), lifeOf(T0 + 1001, T0 + 2001)];
    equal(await livesOf(ledger), lives, "the lives");
  }),
  ledgerCase(["H21"], "lives: a scheduler that signs off ends its life", async (store, ledger) => {
    await sign(store, T0, T0 + 9000);
    await sign(store, T0 + 100, T0 + 100);
    await sign(store, T0 + 100, T0 + 100);
    equal(await livesOf(ledger), [lifeOf(T0, T0 + 100)], "the lives after it signed off");
    await sign(store, T0 + 300, T0 + 900, { run: 2 });
    equal(await livesOf(ledger), [lifeOf(T0, T0 + 100), lifeOf(T0 + 300, T0 + 900)], "the lives after it came back");
    await sign(store, T0 + 950, T0 + 950, { run: 2 });
    equal(await livesOf(ledger), [lifeOf(T0, T0 + 100), lifeOf(T0 + 300, T0 + 900)], "after it signed off too late");
  }),
  ledgerCase(["H21"], "lives: who never lived does not sign off", async (store, ledger) => {
    await sign(store, T0, T0);
    await extend(store, [], { aliveUntil: null });
    equal(await livesOf(ledger), [], "the lives");
  }),
  ledgerCase(
    ["H21"],
    "lives: several runs of one identity are one life, until the last one ends",
    async (store, ledger) => {
      await sign(store, T0, T0 + 5000, { run: 1 });
      await sign(store, T0 + 100, T0 + 3000, { run: 2 });
      equal(await livesOf(ledger), [lifeOf(T0, T0 + 5000)], "the lives of two runs");
      await sign(store, T0 + 200, T0 + 200, { run: 1 });
      equal(await livesOf(ledger), [lifeOf(T0, T0 + 3000)], "the lives after the first signed off");
      await sign(store, T0 + 300, T0 + 300, { run: 2 });
      equal(await livesOf(ledger), [lifeOf(T0, T0 + 300)], "the lives after both signed off");
    },
  ),
  ledgerCase(["H21"], "lives: each identity has its own, by the time at which they began", async (store, ledger) => {
    await sign(store, T0 + 5, T0 + 1000, { by: "scheduler-a" });
    await sign(store, T0, T0 + 2000, { by: "scheduler-b" });
    await sign(store, T0 + 9, T0 + 3000, { by: "scheduler-a" });
    const lives = [lifeOf(T0, T0 + 2000, { identity: "scheduler-b" }), lifeOf(T0 + 5, T0 + 3000)];
    equal(await livesOf(ledger), lives, "the lives");
  }),
  ledgerCase(["H21"], "lives: the last sign tells what the scheduler does", async (store, ledger) => {
    await sign(store, T0, T0 + 1000);
    await sign(store, T0 + 10, T0 + 1010, { profile: { ...PROFILE, role: "both", tasks: ["c"] } });
    const last = { role: "both", tasks: ["c"] } as const;
    equal(await livesOf(ledger), [lifeOf(T0, T0 + 1010, last)], "the lives");
  }),
  ledgerCase(["H21"], "lives: a scheduler that starts is alive, where it takes over", async (store, ledger) => {
    const surrender = { schedulerId: "scheduler-a", incarnation: "scheduler-a 1#", profile: PROFILE };
    await store.giveUpLeases({ ...surrender, now: T0, aliveUntil: T0 + 1000 });
    equal(await livesOf(ledger), [lifeOf(T0, T0 + 1000)], "the lives");
  }),
  ledgerCase(
    ["H22"],
    "lives: ticks are one life while no more than 15 minutes lie between them",
    async (store, ledger) => {
      const isResident = false;
      await tick(store, T0);
      await tick(store, T0 + 5 * MINUTE_MS);
      equal(await livesOf(ledger), [lifeOf(T0, T0 + 6 * MINUTE_MS, { isResident })], "the lives after two ticks");
      await tick(store, T0 + 21 * MINUTE_MS);
      const first = lifeOf(T0, T0 + 22 * MINUTE_MS, { isResident });
      equal(await livesOf(ledger), [first], "the lives after a tick 15 minutes after the end of the second");
      await tick(store, T0 + 37 * MINUTE_MS + 1);
      const second = lifeOf(T0 + 37 * MINUTE_MS + 1, T0 + 38 * MINUTE_MS + 1, { isResident });
      equal(await livesOf(ledger), [first, second], "the lives after a tick that came later than that");
    },
  ),
  ledgerCase(["H23"], "lives: a look into a time finds the lives that touch it", async (store, ledger) => {
    await sign(store, T0, T0 + 1000);
    await sign(store, T0 + 2000, T0 + 3000, { run: 2 });
    await sign(store, T0 + 500, T0 + 5000, { by: "scheduler-b" });
    const [a, b, c] = [
      lifeOf(T0, T0 + 1000),
      lifeOf(T0 + 500, T0 + 5000, { identity: "scheduler-b" }),
      lifeOf(T0 + 2000, T0 + 3000),
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
      equal(await ledger.getLives({ from, until }), expected, `the lives from ${from - T0} until ${until - T0}`);
    }
  }),
];
