import { equal, present } from "./assert.ts";
import type { DataStoreCase, DataStoreContext } from "./contract-case.ts";
import { debounced, NOBODYS, putBack, WAIT_MS } from "./debounce-makers.ts";
import { blockedIds, keyed, putTask, takenIds, tenASecond } from "./flow-makers.ts";
import { finish, idsOf, LEASE_MS, leasedJob, look, makeJob, T0, take } from "./makers.ts";

/** Bursts whose job was acquired, blocked or admitted before. */
export const debounceBlockedCases: readonly DataStoreCase[] = [
  ...(["retry", "giveUp", "loss", "stray"] as const).map((how) => ({
    name: `debounce: a job that was acquired counts no more, and a new burst makes a new job (${how})`,
    rules: ["W6"],
    async run({ open }: DataStoreContext): Promise<void> {
      const store = await open();
      await store.addJobs([debounced(T0, { id: "a", payload: "1" })]);
      const due = T0 + WAIT_MS;
      const held = present((await take(store, { now: due })).acquired[0], "the job is acquired");
      const [second] = await store.addJobs([debounced(due, { id: "b", payload: "2" })]);
      equal([second?.job.id, second?.isNew], ["b", true], "the answer while the first runs");
      await putBack(store, held, how, due);
      const [third] = await store.addJobs([debounced(due + 1, { id: "c", payload: "3" })]);
      equal([third?.job.id, third?.isNew], ["b", false], "the answer while the first waits");
      equal(
        (await store.getJobs({ limit: 9, cursor: null })).items.map(({ id, payload }) => [id, payload]),
        [
          ["a", "1"],
          ["b", "3"],
        ],
        "the jobs",
      );
      const late = due + LEASE_MS + WAIT_MS;
      equal(idsOf((await take(store, { now: late })).acquired).toSorted(), ["a", "b"], "what runs");
    },
  })),
  {
    name: "debounce: a job that waits for its parents gets the values of the last addition, and waits on",
    rules: ["W7"],
    async run({ open }) {
      const store = await open();
      const parent = await leasedJob(store, { id: "parent" });
      const after = { after: ["parent"], onParentFailure: "run" } as const;
      const first = debounced(T0, { id: "a", payload: "1", ...after }, { waitMs: 0 });
      const answers = await store.addJobs([first, debounced(T0, { id: "b", payload: "2" }, { waitMs: 0 })]);
      answers.push(...(await store.addJobs([debounced(T0 + 1, { id: "c", payload: "3" }, { waitMs: 0 })])));
      const blocked = makeJob({ id: "a", blockedBy: "parents", ...after });
      equal(
        answers,
        [
          { job: { ...blocked, payload: "2" }, isNew: true },
          { job: { ...blocked, payload: "2" }, isNew: false },
          { job: { ...blocked, payload: "3", runAt: T0 + 1 }, isNew: false },
        ],
        "the answers",
      );
      const early = await take(store, { now: T0 + 1 });
      equal([early.acquired, early.hasReady, early.nextRunAt], [[], false, null], "while the parent runs");
      const { acquired } = await take(store, { now: T0 + 1, releases: [finish(parent, { outcome: "error" })] });
      equal(
        acquired.map(({ id, payload, after: parents }) => [id, payload, parents]),
        [["a", "3", ["parent"]]],
        "when it has ended",
      );
    },
  },
  {
    name: "debounce: a job that its key holds is blocked with the values of the last addition, or waits again",
    rules: ["W7"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const running = await leasedJob(store, keyed("running", "k"));
      const ofKey = { concurrencyKey: "k" };
      const now = { waitMs: 0 };
      await store.addJobs([debounced(T0, { id: "a", ...ofKey }, now), keyed("other", "k")]);
      await take(store);
      await store.addJobs([debounced(T0 + 1, { id: "b", payload: "2", priority: -1, ...ofKey }, now)]);
      equal((await take(store, { now: T0 + 1 })).acquired, [], "while another job of the key runs");
      equal(await blockedIds(store), ["a", "other"], "the blocked jobs");
      const second = await take(store, { now: T0 + 1, releases: [finish(running)] });
      equal(idsOf(second.acquired), ["other"], "the job that now comes first");
      await store.addJobs([debounced(T0 + 2, { id: "c", payload: "3", ...ofKey })]);
      const releases = [finish(present(second.acquired[0], "the other job"))];
      const third = await take(store, { now: T0 + 2, releases });
      equal([third.acquired, third.hasReady, third.nextRunAt], [[], false, T0 + 2 + WAIT_MS], "while it waits");
      const { acquired } = await take(store, { now: T0 + 2 + WAIT_MS });
      equal(
        acquired.map(({ id, payload }) => [id, payload]),
        [["a", "3"]],
        "when it is due",
      );
    },
  },
  ...[
    { what: "of a key", settings: { maxRunningPerKey: 1 }, key: { concurrencyKey: "k" } },
    { what: "without a key in a task with a rate", settings: tenASecond(), key: {} },
  ].map(({ what, settings, key }) => ({
    name: `debounce: a job ${what} that was admitted and waits again leaves its place to others`,
    rules: ["W7"],
    async run({ open }: DataStoreContext): Promise<void> {
      const store = await open();
      await putTask(store, settings);
      const first = debounced(T0, { id: "a", ...key }, { waitMs: 0 });
      await store.addJobs([first, makeJob({ id: "next", ...key })]);
      equal(idsOf((await take(store, { queues: [NOBODYS] })).acquired), [], "what nobody acquires");
      equal(await blockedIds(store), ["next"], "the blocked job");
      await store.addJobs([debounced(T0 + 1, { id: "b", ...key })]);
      equal((await look(store, { now: T0 + 1 })).hasReady, true, "whether a look finds the other job");
      equal(await takenIds(store, { now: T0 + 1 }), ["next"], "what is acquired");
    },
  })),
  {
    name: "debounce: a job that was admitted and gets another key leaves its place, and takes one of the other key",
    rules: ["W7"],
    async run({ open }) {
      const store = await open();
      await putTask(store, { maxRunningPerKey: 1 });
      const now = { waitMs: 0 };
      await store.addJobs([debounced(T0, { id: "a", concurrencyKey: "k" }, now), keyed("next", "k")]);
      await take(store, { queues: [NOBODYS] });
      await store.addJobs([debounced(T0 + 1, { id: "b", concurrencyKey: "l" }, now), keyed("other", "l")]);
      equal((await look(store, { now: T0 + 1 })).hasReady, true, "whether a look finds the jobs");
      equal(await takenIds(store, { now: T0 + 1 }), ["next", "other"], "what is acquired");
      equal(await blockedIds(store), ["a"], "the blocked job");
    },
  },
];
