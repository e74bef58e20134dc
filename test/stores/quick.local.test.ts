import { createClient } from "@libsql/client";
import { expect, test } from "vitest";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import {
  add,
  finish,
  makeJob,
  makeSchedule,
  makeTask,
  QUEUE,
  T0,
} from "../../src/testing/data-store-contract/makers.ts";

const view = {
  now: T0,
  schedulerId: "a",
  jobs: { queues: [QUEUE], limit: 10 },
  schedules: { dueBy: T0, limit: 200, bytesMax: 500000, after: null },
};
let n = 0;
const req = (o = {}) => ({
  ...view,
  stepId: `inc/${++n}`,
  isRepetition: false,
  until: T0 + 60000,
  releases: [],
  additions: [],
  recover: false,
  plans: [],
  ...o,
});
const fire = (o = {}) => ({
  jobId: "j1",
  createdAt: T0,
  fireTime: T0,
  scheduledFireTime: T0 + 1,
  runAt: T0,
  startDeadline: null,
  missedCount: 3,
  firstMissedTime: null,
  lastMissedTime: T0 - 1,
  ...o,
});
const plan = (s, o = {}) => ({
  scheduleId: s.id,
  fence: s.fence,
  expected: s.nextFireTime,
  fires: [fire()],
  nextFireTime: T0 + 1000,
  lastFireTime: T0,
  paused: false,
  isFavourite: true,
  ...o,
});

test("quick", async () => {
  const client = createClient({ url: ":memory:" });
  const store = new LibsqlDataStore({ client });
  await store.open(T0);
  console.log(await store.look({ ...view, tasks: [makeTask()] }));
  await store.putTasks([makeTask({ maxRunningJobs: 2 })]);
  console.log(await store.look({ ...view, tasks: [makeTask({ maxRunningJobs: 2 }), makeTask({ id: "x" })] }));
  await store.addSchedules(
    add(
      makeSchedule({
        payload: 'nul\u0000 "q" \u2028 \\',
        metadata: { a: null, b: { c: null } },
        fence: 77,
        priority: 2.5,
      }),
      makeSchedule({ id: "later", nextFireTime: T0 + 5 }),
    ),
  );
  const l = await store.look({ ...view, tasks: null });
  console.dir(l, { depth: 9 });
  const p = plan(l.due[0]);
  const r1 = req({ plans: [p], additions: [makeJob({ id: "add", priority: 9 })] });
  const a = await store.step(r1);
  console.dir(a, { depth: 9 });
  const b = await store.step({ ...r1, isRepetition: true });
  expect(b).toEqual({ ...a });
  expect((await store.step(req({ plans: [p] }))).plans).toEqual([{ committed: false, addedJobIds: ["j1"] }]);
  const c = await store.step(
    req({
      releases: [finish(a.acquired[0]), { jobId: a.acquired[1].id, fence: 1, kind: "giveUp" }],
      jobs: null,
      schedules: null,
    }),
  );
  console.dir(c, { depth: 9 });
  await store.extendLeases({
    now: T0,
    schedulerId: "a",
    incarnation: "inc",
    settledStepId: null,
    until: T0 + 5,
    jobs: [],
    aliveUntil: T0 + 10,
  });
  console.dir(
    await store.look({ ...view, tasks: null, now: T0 + 1, schedules: { ...view.schedules, dueBy: T0 + 10000 } }),
    { depth: 9 },
  );
  const many = await store.step(
    req({
      jobs: {
        queues: [QUEUE, ...Array.from({ length: 6 }, (_, i) => ({ executor: "inline", taskId: `t${i}` }))],
        limit: 5,
      },
    }),
  );
  console.dir(many, { depth: 3 });
});
