import { equal, present } from "./assert.ts";
import type { DataStoreCase, DataStoreContext } from "./contract-case.ts";
import { debounced, WAIT_MS } from "./debounce-makers.ts";
import { commit, finish, jobIds, makeJob, release, T0, take } from "./makers.ts";
import { again, twice } from "./repeat.ts";

/** Additions to bursts whose answer was lost, or that come late. */
export const debounceRepetitionCases: readonly DataStoreCase[] = [
  {
    name: "debounce: a commit whose answer was lost adds and changes nothing twice",
    rules: ["W5"],
    async run({ open }) {
      const store = await open();
      const additions = [debounced(T0, { id: "a", payload: "1" }), debounced(T0, { id: "b", payload: "2" })];
      const [lost, answer] = await twice(store, { additions });
      const job = makeJob({ id: "a", payload: "2", runAt: T0 + WAIT_MS });
      const answers = [
        { job, isNew: true },
        { job, isNew: false },
      ];
      equal([lost.additions, answer.additions], [answers, answers], "the answers");
      equal(await jobIds(store), ["a"], "the jobs");
    },
  },
  {
    name: "debounce: an addition that is repeated late does not override a newer one",
    rules: ["W5"],
    async run({ open }) {
      const store = await open();
      const first = [debounced(T0, { id: "a", payload: "1" })];
      const second = [debounced(T0, { id: "b", payload: "2" })];
      await commit(store, { commitId: "one", additions: first });
      await commit(store, { commitId: "two", additions: second });
      await store.addJobs([debounced(T0 + 1, { id: "c", payload: "3" })]);
      const job = makeJob({ id: "a", payload: "3", runAt: T0 + 1 + WAIT_MS });
      const [one] = (await again(store, { commitId: "one", additions: first })).additions;
      const [two] = (await again(store, { commitId: "two", additions: second })).additions;
      equal(
        [one, two],
        [
          { job, isNew: true },
          { job, isNew: false },
        ],
        "the answers",
      );
      equal(await store.getJob("a"), job, "the job");
    },
  },
  {
    name: "debounce: an addition that is repeated after its job was acquired leaves the next burst alone",
    rules: ["W5"],
    async run({ open }) {
      const store = await open();
      const first = debounced(T0, { id: "a", payload: "1" });
      await store.addJobs([first]);
      const now = T0 + WAIT_MS;
      const [blocked] = (await take(store, { now })).acquired;
      await store.addJobs([debounced(now, { id: "c", payload: "3" })]);
      equal(
        (await store.addJobs([first])).map(({ job, isNew }) => [job.id, isNew]),
        [["a", true]],
        "the answer while the job runs",
      );
      await release(store, [finish(present(blocked, "the first job"))], { now });
      equal(
        (await store.addJobs([first])).map(({ job, isNew }) => [job.id, isNew]),
        [["a", true]],
        "the answer after its end",
      );
      const next = makeJob({ id: "c", payload: "3", createdAt: now, runAt: now + WAIT_MS });
      equal((await store.getJobs({ limit: 9, cursor: null })).items, [next], "the jobs");
    },
  },
  ...[0, 60_000].map((resultExpirationMs) => ({
    name: `debounce: a repeated addition whose job has ended starts nothing (kept for ${resultExpirationMs} ms)`,
    rules: ["W5"],
    isAboutLostAnswers: true as const,
    async run({ open }: DataStoreContext): Promise<void> {
      const store = await open();
      const second = debounced(T0 + 1, { id: "b", payload: "2", resultExpirationMs });
      await store.addJobs([debounced(T0, { id: "a", payload: "1", resultExpirationMs })]);
      await store.addJobs([second]);
      const now = T0 + 1 + WAIT_MS;
      const held = present((await take(store, { now })).acquired[0], "the job");
      equal(await store.addJobs([second]), [{ job: held, isNew: false }], "the answer while it runs");
      await release(store, [finish(held, { expiresAt: now + resultExpirationMs })], { now });
      await store.addJobs([debounced(now, { id: "c" })]);
      equal(
        (await store.addJobs([second])).map(({ job, isNew, hasEnded }) => [job.id, isNew, hasEnded]),
        [["a", false, true]],
        "the answer after its end",
      );
      equal(await jobIds(store), ["c"], "the jobs");
    },
  })),
];
