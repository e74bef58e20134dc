import type { JobLogRecord } from "../../records/job-log.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { cancel, commit, extend, finish, LEASE_MS, leasedJob, release, T0, take } from "./makers.ts";

function logOf(attempt: number, ...messages: readonly string[]): JobLogRecord {
  return { attempt, lines: messages.map((message, index) => ({ at: T0 + index, level: "info", message })), dropped: 0 };
}

const ODD: JobLogRecord = {
  attempt: 1,
  lines: [
    { at: T0, level: "debug", message: "'\"\\\u2028\ud83d\ude00", fields: { n: null, list: [1.5, { a: "ü" }] } },
    { at: T0 + 1, level: "error", message: "" },
  ],
  dropped: 7,
};

export const jobLogCases: readonly DataStoreCase[] = [
  {
    name: "logs: what a release carries comes back as it was, while the result is kept",
    rules: ["J13"],
    async run(context) {
      const [store, other] = await openTwo(context);
      const job = await leasedJob(store);
      equal(await store.getJobLogs("job", T0), [], "before the release");
      await release(store, [{ ...finish(job), log: ODD }]);
      equal(await other.getJobLogs("job", T0), [ODD], "after it");
      equal(await store.getJobLogs("job", T0 + 86_400_000), [], "when the result has expired");
      equal(await store.getJobLogs("other", T0), [], "of a job that never existed");
      await store.cleanup({ now: T0 + 86_400_000, limit: 9 });
      equal(await store.getJobLogs("job", T0), [], "when the result is removed");
    },
  },
  {
    name: "logs: an extension of the lease replaces the log of the attempt, and each lease has one of its own",
    rules: ["J13"],
    async run({ open }) {
      const store = await open();
      const first = await leasedJob(store);
      await extend(store, [{ jobId: "job", fence: first.fence, log: logOf(1, "a") }]);
      equal(await store.getJobLogs("job", T0), [logOf(1, "a")], "after an extension");
      await extend(store, [{ jobId: "job", fence: first.fence, log: logOf(1, "a", "b") }]);
      await extend(store, [{ jobId: "job", fence: first.fence }]);
      equal(await store.getJobLogs("job", T0), [logOf(1, "a", "b")], "after more of them");
      const lease = { jobId: "job", fence: first.fence } as const;
      const retry = { ...lease, kind: "retry", runAt: T0, failedAttempts: 1, log: logOf(1, "c") } as const;
      await release(store, [retry]);
      equal(await store.getJobLogs("job", T0), [logOf(1, "c")], "after a retry");
      const second = present((await take(store)).acquired[0], "the job again");
      await extend(store, [{ jobId: "job", fence: second.fence, log: logOf(2, "d") }]);
      // The process dies, and another takes the job.
      const late = T0 + LEASE_MS * 2;
      const { acquired } = await take(store, { by: "b", now: late });
      const third = present(acquired[0], "the job that was lost");
      await release(store, [{ ...finish(third), log: logOf(3, "e") }], { by: "b", now: late });
      const expected = [logOf(1, "c"), logOf(2, "d"), logOf(3, "e")];
      equal(await store.getJobLogs("job", T0), expected, "of all attempts");
    },
  },
  {
    name: "logs: nobody writes one whose lease is another's",
    rules: ["J13"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await extend(store, [{ jobId: "job", fence: job.fence, log: logOf(1, "kept") }]);
      const strange = [{ jobId: "job", fence: job.fence, log: logOf(1, "strange") }];
      await extend(store, strange, { schedulerId: "b" });
      await extend(store, [{ jobId: "job", fence: job.fence + 1, log: logOf(1, "strange") }]);
      await release(store, [{ ...finish(job), fence: job.fence + 1, log: logOf(1, "strange") }]);
      await release(store, [{ ...finish(job), log: logOf(1, "strange") }], { by: "b" });
      equal(await store.getJobLogs("job", T0), [logOf(1, "kept")], "the log");
    },
  },
  {
    name: "logs: they go with a job that leaves no result, and with a result that is removed",
    rules: ["J13"],
    async run({ open }) {
      const store = await open();
      const log = logOf(1, "a");
      const unkept = await leasedJob(store, { id: "unkept", resultExpirationMs: 0 });
      await release(store, [{ ...finish(unkept, { expiresAt: T0 }), log }]);
      equal(await store.getJobLogs("unkept", T0), [], "of a job without a result");
      const kept = await leasedJob(store, { id: "kept" });
      await release(store, [{ ...finish(kept), log }]);
      await store.removeJobResults({}, 9);
      const again = await leasedJob(store, { id: "kept" });
      equal(await store.getJobLogs("kept", T0), [], "of another job with the id");
      const lease = { jobId: "kept", fence: again.fence } as const;
      await release(store, [{ ...lease, kind: "retry", runAt: T0 + 9, failedAttempts: 1, log }]);
      await cancel(store, "kept", T0);
      equal(await store.getJobLogs("kept", T0), [log], "of a job that was cancelled");
    },
  },
  {
    name: "logs: of very many attempts, those of the last 20 leases are there",
    rules: ["J13"],
    async run({ open }) {
      const store = await open();
      await leasedJob(store);
      for (let fence = 1; fence <= 25; fence++) {
        const retry = { jobId: "job", fence, kind: "retry", runAt: T0, failedAttempts: fence } as const;
        await commit(store, { releases: [{ ...retry, log: logOf(fence, `${fence}`) }] });
      }
      const attempts = (await store.getJobLogs("job", T0)).map(({ attempt }) => attempt);
      equal(attempts, [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25], "the attempts");
    },
  },
];
