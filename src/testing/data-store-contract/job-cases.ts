import type { JobRecord } from "../../records/job.ts";
import { equal, present } from "./assert.ts";
import type { DataStoreCase } from "./contract-case.ts";
import {
  cancel,
  finish,
  idsOf,
  LEASE_MS,
  leasedJob,
  makeJob,
  makeJobs,
  makeTask,
  numbered,
  release,
  T0,
  take,
} from "./makers.ts";

export const jobCases: readonly DataStoreCase[] = [
  {
    name: "jobs: every field comes back as it was added",
    rules: ["G4"],
    async run({ open }) {
      const store = await open();
      const job = makeJob({
        scheduleId: "schedule",
        executor: "threads",
        payload: '{"to":["a",null]}',
        priority: -7,
        runAt: T0 + 10,
        fireTime: T0 - 5,
        scheduledFireTime: T0 - 3,
        startDeadline: T0 + 99,
        missedCount: 3,
        firstMissedTime: T0 - 30,
        lastMissedTime: T0 - 10,
        resultExpirationMs: 0,
        maxRecoveries: 0,
        metadata: { list: [1, { a: null }], text: "x" },
        idempotencyKey: "key",
        retry: { maxAttempts: 3, backoff: { initialMs: 10, factor: 1.5, maxMs: 1000, jitter: "none" } },
      });
      equal(await store.addJobs([job]), [{ job, isNew: true }], "the answer");
      equal(await store.getJob("job"), job, "the stored job");
    },
  },
  {
    name: "jobs: an unknown id is null, and adding none adds none",
    rules: ["G14"],
    async run({ open }) {
      const store = await open();
      equal(await store.getJob("missing"), null, "an unknown job");
      equal(await store.addJobs([]), [], "the answer to none");
    },
  },
  {
    name: "jobs: one whose idempotency key an unfinished job has is answered with that job",
    rules: ["A2"],
    async run({ open }) {
      const store = await open();
      const first = makeJob({ id: "first", idempotencyKey: "key", payload: '"one"' });
      await store.addJobs([first]);
      const answers = await store.addJobs([
        makeJob({ id: "second", idempotencyKey: "key" }),
        makeJob({ id: "third", idempotencyKey: "other" }),
      ]);
      equal(
        answers,
        [
          { job: first, isNew: false },
          { job: makeJob({ id: "third", idempotencyKey: "other" }), isNew: true },
        ],
        "the answers",
      );
      equal(await store.getJob("second"), null, "the second job");
    },
  },
  {
    name: "jobs: one whose schedule and fire time an unfinished job has is answered with that job",
    rules: ["A3"],
    async run({ open }) {
      const store = await open();
      const first = makeJob({ id: "first", scheduleId: "schedule", fireTime: T0 });
      await store.addJobs([first]);
      const answers = await store.addJobs([
        makeJob({ id: "same", scheduleId: "schedule", fireTime: T0 }),
        makeJob({ id: "later", scheduleId: "schedule", fireTime: T0 + 1 }),
        makeJob({ id: "other", scheduleId: "other", fireTime: T0 }),
        makeJob({ id: "unscheduled 1", scheduleId: "schedule", fireTime: null }),
        makeJob({ id: "unscheduled 2", scheduleId: "schedule", fireTime: null }),
      ]);
      equal(
        answers.map(({ job, isNew }) => [job.id, isNew]),
        [
          ["first", false],
          ["later", true],
          ["other", true],
          ["unscheduled 1", true],
          ["unscheduled 2", true],
        ],
        "the answers",
      );
      equal(await store.getJob("same"), null, "the second job of the fire time");
    },
  },
  {
    name: "jobs: an idempotency key that comes twice in one call makes one job",
    rules: ["A2", "G15"],
    async run({ open }) {
      const store = await open();
      const answers = await store.addJobs([
        makeJob({ id: "a", idempotencyKey: "key" }),
        makeJob({ id: "b", idempotencyKey: "key" }),
      ]);
      equal(
        answers.map(({ job, isNew }) => [job.id, isNew]),
        [
          ["a", true],
          ["a", false],
        ],
        "the answers",
      );
    },
  },
  {
    name: "jobs: an idempotency key belongs to its task",
    rules: ["A2"],
    async run({ open }) {
      const store = await open();
      const mine = makeJob({ id: "mine", idempotencyKey: "key" });
      const others = makeJob({ id: "others", taskId: "other", idempotencyKey: "key" });
      equal(
        (await store.addJobs([mine])).map(({ isNew }) => isNew),
        [true],
        "the first",
      );
      const answers = await store.addJobs([others, { ...others, id: "again" }, { ...mine, id: "mine again" }]);
      equal(
        answers.map(({ job, isNew }) => [job.id, isNew]),
        [
          ["others", true],
          ["others", false],
          ["mine", false],
        ],
        "those of two tasks",
      );
      const { acquired } = await take(store);
      await release(store, [finish(present(acquired[0], "the job"))]);
      const last = await store.addJobs([
        { ...mine, id: "next" },
        { ...others, id: "last" },
      ]);
      equal(
        last.map(({ isNew }) => isNew),
        [true, false],
        "when one has ended",
      );
    },
  },
  {
    name: "jobs: an idempotency key is blocked by a leased job, and free once the job has finished",
    rules: ["A2"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { id: "a", idempotencyKey: "key" });
      const [blocked] = await store.addJobs([makeJob({ id: "b", idempotencyKey: "key" })]);
      equal([blocked?.isNew, blocked?.job.id], [false, "a"], "while it is leased");
      await release(store, [finish(job)]);
      const [free] = await store.addJobs([makeJob({ id: "c", idempotencyKey: "key" })]);
      equal([free?.isNew, free?.job.id], [true, "c"], "when it has finished");
    },
  },
  {
    name: "jobs: one whose id exists is not added again, and answers as new: it repeats an unknown write",
    rules: ["A4"],
    async run({ open }) {
      const store = await open();
      const jobs = [makeJob({ id: "a", idempotencyKey: "key" }), makeJob({ id: "b" })];
      await store.addJobs(jobs);
      const answers = await store.addJobs(jobs);
      equal(
        answers.map(({ job, isNew }) => [job.id, isNew]),
        [
          ["a", true],
          ["b", true],
        ],
        "the answers",
      );
      equal((await take(store)).acquired.length, 2, "the number of jobs");
    },
  },
  {
    name: "jobs: repeating an addition does not touch a job that is leased or has run meanwhile",
    rules: ["A4"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store);
      await store.addJobs([makeJob()]);
      equal(await store.getJob("job"), job, "the leased job");
      await release(store, [finish(job)]);
      await store.addJobs([makeJob()]);
      equal((await take(store)).acquired, [], "what a worker gets after it has run");
    },
  },
  {
    name: "jobs: repeating an addition whose job ran and kept no result does not run it again, within 10 minutes",
    rules: ["A5"],
    isAboutLostAnswers: true,
    async run({ open }) {
      const store = await open();
      const fields = { resultExpirationMs: 0, idempotencyKey: "key" };
      const job = await leasedJob(store, fields);
      await release(store, [finish(job, { expiresAt: T0 })]);
      const late = T0 + 599_000;
      const [again] = await store.addJobs([makeJob(fields)]);
      equal([again?.job.id, again?.isNew], ["job", true], "the answer");
      const { acquired } = await take(store, { now: late, additions: [makeJob(fields)] });
      equal(acquired, [], "what a worker gets");
      equal(await store.getJob("job"), null, "the job");
      equal(await store.getJobResult("job", T0), null, "the result");
      equal((await store.getJobResults({ limit: 10, cursor: null }, T0 - 1)).items, [], "all results");
      await store.putTasks([makeTask()]);
      equal(await store.removeTask("task"), "removed", "the task, which has nothing any more");
      const [next] = await store.addJobs([makeJob({ ...fields, id: "next" })]);
      equal(next?.isNew, true, "the key is free for another job");
    },
  },
  {
    name: "jobs: repeating an addition whose job was cancelled, or lost for good, and kept no result does not run it",
    rules: ["A5"],
    isAboutLostAnswers: true,
    async run({ open }) {
      const store = await open();
      const lost = makeJob({ id: "lost", resultExpirationMs: 0, maxRecoveries: 0 });
      const cancelled = makeJob({ id: "cancelled", resultExpirationMs: 0 });
      await store.addJobs([lost]);
      await take(store);
      await store.addJobs([cancelled]);
      await cancel(store, "cancelled", T0);
      const now = T0 + LEASE_MS;
      equal((await take(store, { now })).ended[0]?.jobId, "lost", "the lost job");
      const answers = await store.addJobs([lost, cancelled]);
      equal(
        answers.map(({ job, isNew }) => [job.id, isNew]),
        [
          ["lost", true],
          ["cancelled", true],
        ],
        "the answers",
      );
      equal((await take(store, { now })).acquired, [], "what a worker gets");
    },
  },
  {
    name: "jobs: pages of unfinished jobs come by id, of one task or schedule where asked",
    rules: ["I1", "I4"],
    async run({ open }) {
      const store = await open();
      await store.addJobs([
        makeJob({ id: "d", taskId: "x" }),
        makeJob({ id: "a", taskId: "x", scheduleId: "s", fireTime: T0 }),
        makeJob({ id: "c", taskId: "y", scheduleId: "s" }),
        makeJob({ id: "b", taskId: "x", scheduleId: "s", runAt: T0 + 1000 }),
      ]);
      const page = { limit: 10, cursor: null };
      equal(idsOf((await store.getJobs(page)).items), ["a", "b", "c", "d"], "all");
      equal(idsOf((await store.getJobs({ ...page, taskId: "x" })).items), ["a", "b", "d"], "of a task");
      equal(idsOf((await store.getJobs({ ...page, scheduleId: "s" })).items), ["a", "b", "c"], "of a schedule");
      equal(idsOf((await store.getJobs({ ...page, taskId: "x", scheduleId: "s" })).items), ["a", "b"], "of both");
      const first = await store.getJobs({ limit: 2, cursor: null, scheduleId: "s" });
      const rest = await store.getJobs({ limit: 2, cursor: present(first.cursor, "the cursor"), scheduleId: "s" });
      equal([idsOf(first.items), idsOf(rest.items), rest.cursor], [["a", "b"], ["c"], null], "pages");
    },
  },
  {
    name: "jobs: pages show leased jobs, and no finished ones",
    rules: ["I4"],
    async run({ open }) {
      const store = await open();
      const job = await leasedJob(store, { id: "a" });
      equal((await store.getJobs({ limit: 10, cursor: null })).items, [job], "while it is leased");
      await release(store, [finish(job)]);
      equal(await store.getJobs({ limit: 10, cursor: null }), { items: [], cursor: null }, "when it has finished");
    },
  },
  {
    name: "jobs: a thousand at once are added, and come in order",
    rules: ["A1", "G15"],
    async run({ open }) {
      const store = await open();
      const jobs = makeJobs(1000);
      const answers = await store.addJobs(jobs);
      equal(answers.length, 1000, "the number of answers");
      equal(
        answers.every(({ job, isNew }, index) => isNew && job.id === numbered("job", index)),
        true,
        "each answer is its job's",
      );
      const { acquired, hasReady } = await take(store, { limit: 1000 });
      equal([idsOf(acquired), hasReady], [idsOf(jobs), false], "what a worker gets");
    },
  },
  {
    name: "jobs: alike ones and different ones in one call each come back as they were added",
    rules: ["G4", "G15"],
    async run({ open }) {
      const store = await open();
      const alike = (id: string): JobRecord => makeJob({ id, payload: `"${id}"`, metadata: { id } });
      // Each differs from the alike jobs in one field. A store might write this field only once for all jobs.
      const different: JobRecord[] = [
        makeJob({ id: "b-task", taskId: "other" }),
        makeJob({ id: "c-executor", executor: "threads" }),
        makeJob({ id: "d-priority", priority: 3 }),
        makeJob({ id: "e-later", runAt: T0 + LEASE_MS }),
        makeJob({ id: "f-earlier", runAt: T0 - 1 }),
        makeJob({ id: "g-schedule", scheduleId: "schedule", fireTime: T0 }),
        makeJob({ id: "h-key", idempotencyKey: "key" }),
        makeJob({ id: "i-by-hand", scheduleId: "schedule" }),
        makeJob({ id: "j-recovered", recoveries: 2 }),
        makeJob({ id: "k-failed", failedAttempts: 1 }),
        makeJob({ id: "l-fence", fence: 4 }),
      ];
      for (const [index, odd] of [null, ...different].entries()) {
        const pair = [alike(`a-${index}`), alike(`z-${index}`)];
        // The different job stands between two alike ones, so that neither the first nor the last job tells of all.
        const jobs = odd === null ? pair : pair.toSpliced(1, 0, odd);
        const answers = await store.addJobs(jobs);
        equal(
          answers,
          jobs.map((job) => ({ job, isNew: true })),
          `the answers with ${odd?.id ?? "none"} between`,
        );
        for (const job of jobs) equal(await store.getJob(job.id), job, `the stored job ${job.id}`);
      }
      const again = different.map((job) => ({ ...job, id: `${job.id}-2`, fireTime: job.fireTime && job.fireTime + 1 }));
      const everything = [alike("y"), ...again, alike("x")];
      const answers = await store.addJobs(everything);
      equal(
        answers.map(({ job, isNew }) => [job.id, isNew]),
        everything.map(({ id }) => (id === "h-key-2" ? ["h-key", false] : [id, true])),
        "the answers to all at once",
      );
      const rest = ["i-by-hand", "j-recovered", "k-failed", "l-fence"];
      equal(
        idsOf((await take(store)).acquired).filter((id) => !/^[az]-/.test(id)),
        [
          ...["d-priority", "d-priority-2", "f-earlier", "f-earlier-2", "g-schedule", "h-key", ...rest],
          ...["y", "g-schedule-2", ...rest.map((id) => `${id}-2`), "x"],
        ],
        "what a worker of one queue gets, by priority, time and order of addition",
      );
    },
  },
  {
    name: "jobs: many calls at once each get their own answers",
    rules: ["G16", "G15"],
    async run({ open }) {
      const store = await open();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          store.addJobs([
            makeJob({ id: numbered("a", index), idempotencyKey: `key-${index % 10}` }),
            makeJob({ id: numbered("b", index) }),
          ]),
        ),
      );
      equal(answers.filter(([first]) => first?.isNew).length, 10, "one new job per idempotency key");
      equal(
        answers.every(([, second], index) => second?.isNew === true && second.job.id === numbered("b", index)),
        true,
        "each call's second job is its own",
      );
      equal((await take(store, { limit: 100 })).acquired.length, 60, "the number of jobs");
    },
  },
];
