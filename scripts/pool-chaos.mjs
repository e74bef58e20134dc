// Lets processes with pools of threads and of processes work on one file while they are killed, their workers end in
// every way, and jobs run out of time; then checks that nothing was ever leased beyond the capacity of a pool, that
// no job timed out that could not, and that every job has ended. Needs a build (npm run build):
//
//   node scripts/pool-chaos.mjs [--minutes 60] [--processes 3] [--seed N]
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread } from "node:worker_threads";
import { defineTasks, Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql";
import { ProcessExecutor } from "escapement/process";
import { WorkerExecutor } from "escapement/worker";

const FILE = fileURLToPath(import.meta.url);
const ROUND_MS = 50;
const KILLS_EVERY_ROUNDS = 40;
const BACKLOG = 60;
const HEALING_MS_MAX = 180_000;
const POOLS = { threads: { maxWorkers: 2, jobsPerWorker: 2 }, processes: { maxWorkers: 2, maxJobsPerWorker: 20 } };
const CAPACITIES = { threads: 4, processes: 2 };

const spin = (ms) => {
  for (const end = Date.now() + ms; Date.now() < end; );
};
const throws = () => {
  throw new Error("nobody catches this");
};
const HANDLERS = {
  /** Never runs out of time, however long it waits for its turn. */
  brief: ({ ms }) => pause(ms),
  busy: ({ ms }) => spin(ms),
  /** Runs out of time, and heeds it or not. */
  late: async ({ isDeaf }, { signal }) => (isDeaf ? spin(60_000) : pause(60_000, null, { signal })),
  /** Ends its worker, now and then. */
  crash: async ({ how }, { attempt }) => {
    if (attempt > 1) return;
    if (how === "exit") process.exit(7);
    // Of a process, the error would be printed.
    if (how === "throw" && !isMainThread) queueMicrotask(throws);
    if (how === "kill" && isMainThread) process.kill(process.pid, "SIGKILL");
    await pause(20);
  },
};
const PER_POOL = Object.keys(POOLS).flatMap((pool) => Object.keys(HANDLERS).map((name) => [pool, name]));

/** That jobs fail and workers end is what is wanted here. */
const LOGGER = {
  ...{ debug: () => {}, info: () => {}, warn: () => {} },
  error: (text, ...details) => {
    if (!text.startsWith("escapement: job ")) console.error(text, ...details);
  },
};

/** What the workers import. */
export const tasks = defineTasks(
  Object.fromEntries(PER_POOL.map(([pool, name]) => [`${pool} ${name}`, { handler: HANDLERS[name] }])),
);

if (isMainThread && process.argv[1] === FILE) {
  if (process.argv[2] === "worker") await work(process.argv[3], process.argv[4]);
  else process.exitCode = await control();
}

async function work(url, identity) {
  const options = { module: import.meta.url, abortGrace: { milliseconds: 100 } };
  const scheduler = makeScheduler(url, identity, {
    threads: new WorkerExecutor({ ...options, ...POOLS.threads }),
    processes: new ProcessExecutor({ ...options, ...POOLS.processes }),
  });
  await scheduler.start();
  process.once("SIGTERM", () => void scheduler.stop({ drainTimeout: { seconds: 0 } }));
}

function makeScheduler(url, identity, executors) {
  const scheduler = new Scheduler({
    dataStore: new LibsqlDataStore({ url }),
    ...{ identity, executors: executors ?? {}, role: executors === undefined ? "scheduler" : "both" },
    ...{ leaseDuration: { seconds: 2 }, logger: LOGGER },
  });
  for (const [pool, name] of PER_POOL) {
    scheduler.task(`${pool} ${name}`, {
      ...{ executor: pool, maxRunningJobs: null, maxRecoveries: 1000 },
      timeout: name === "late" ? { milliseconds: 300 } : { seconds: 5 },
    });
  }
  return scheduler;
}

async function control() {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "60" },
      processes: { type: "string", default: "3" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
    },
  });
  // Not above, because the workers import this file too.
  const { bundleImport } = await import("./lib/bundle-import.mjs");
  const { randomFrom } = await bundleImport("test/chaos/random.ts");
  const random = randomFrom(Number(values.seed));
  const pick = (items) => items[Math.floor(random() * items.length)];
  const folder = mkdtempSync(join(tmpdir(), "escapement-pools-"));
  const url = `file:${folder}/jobs.db`;
  console.log(`pools under chaos, ${values.minutes} minutes, ${values.processes} processes, seed ${values.seed}`);
  const client = makeScheduler(url, "controller");
  const store = new LibsqlDataStore({ url });
  await client.start();
  await store.open(Date.now());
  const children = new Map();
  process.once("exit", () => {
    for (const child of children.values()) child.kill("SIGKILL");
  });
  const counts = { kills: 0, jobs: 0, checks: 0, leasesMax: {}, outcomes: {} };
  const violations = [];
  const added = new Map();
  let lives = 0;
  const start = () => {
    const identity = `worker-${lives++}`;
    children.set(identity, spawn(process.execPath, [FILE, "worker", url, identity], { stdio: "inherit" }));
  };
  for (let left = Number(values.processes); left > 0; left--) start();

  const addJobs = async () => {
    const jobs = Array.from({ length: 1 + Math.floor(random() * 6) }, () => {
      const name = pick(["brief", "brief", "brief", "brief", "busy", "late", "crash"]);
      const payload = { ms: Math.floor(random() * 100), isDeaf: random() < 0.5, how: pick(["exit", "throw", "kill"]) };
      return { task: `${pick(Object.keys(POOLS))} ${name}`, payload, priority: Math.floor(random() * 3) };
    });
    for (const { id, taskId } of await client.addJobs(jobs)) added.set(id, taskId.split(" ")[1]);
    counts.jobs += jobs.length;
  };
  /** Leases of dead processes count until they end: no other process has their identity. */
  const check = async () => {
    const leases = new Map();
    const { items } = await store.getJobs({ limit: 1000, cursor: null, state: "running" });
    for (const { acquiredBy, executor } of items) {
      const key = `${acquiredBy}, ${executor}`;
      leases.set(key, (leases.get(key) ?? 0) + 1);
      counts.leasesMax[executor] = Math.max(counts.leasesMax[executor] ?? 0, leases.get(key));
    }
    counts.checks++;
    for (const [key, count] of leases) {
      const capacity = CAPACITIES[key.split(", ")[1]];
      if (count > capacity) violations.push(`${key}: ${count} leases, and a capacity of ${capacity}`);
    }
  };
  /** Judges jobs that have ended, and forgets them. */
  const judge = async () => {
    for (const result of await store.getResultsOfJobs([...added.keys()].slice(0, 1000), Date.now())) {
      const { jobId, outcome, error, startedAt, finishedAt } = result;
      const name = added.get(jobId);
      added.delete(jobId);
      counts.outcomes[`${name} ${outcome}`] = (counts.outcomes[`${name} ${outcome}`] ?? 0) + 1;
      const isTimedOut = error?.name === "JobTimeoutError";
      const isRight = name === "late" ? isTimedOut : outcome === "success";
      if (!isRight) violations.push(`job ${jobId} (${name}) ended as ${outcome}: ${error?.name} ${error?.message}`);
      if (isTimedOut && finishedAt - startedAt < 300) violations.push(`job ${jobId} timed out before its time`);
    }
  };

  const endMs = Date.now() + Number(values.minutes) * 60_000;
  for (let round = 1; Date.now() < endMs; round++) {
    if (added.size < BACKLOG) await addJobs();
    await check();
    await judge();
    if (round % KILLS_EVERY_ROUNDS === 0) {
      const [identity, child] = pick([...children]);
      counts.kills++;
      children.delete(identity);
      child.kill("SIGKILL");
      start();
    }
    await pause(ROUND_MS);
  }
  for (const healUntil = Date.now() + HEALING_MS_MAX; added.size > 0 && Date.now() < healUntil; await pause(ROUND_MS)) {
    await check();
    await judge();
  }
  for (const [id, name] of added) violations.push(`job ${id} (${name}) has not ended`);
  for (const child of children.values()) child.kill("SIGTERM");
  await Promise.all([...children.values()].map((child) => new Promise((resolve) => child.once("exit", resolve))));
  await client.stop();
  rmSync(folder, { recursive: true, force: true });
  console.log(JSON.stringify({ ...counts, violations: violations.slice(0, 50) }, null, 2));
  console.log(`${violations.length} violations`);
  return violations.length === 0 ? 0 : 1;
}
