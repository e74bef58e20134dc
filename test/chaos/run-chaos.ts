import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { IntervalTrigger, type Page, Scheduler } from "../../src/mod.ts";
import { bundleProcess } from "../support/bundle-process.ts";
import { HANG_MS } from "../support/hang.ts";
import type { BrokerServer } from "./broker-server.ts";
import { makeBroker } from "./brokers.ts";
import type { ChaosServer } from "./chaos-server.ts";
import { FlowChaos } from "./flow.ts";
import { type LedgerEntry, readLedger } from "./ledger.ts";
import { randomFrom } from "./random.ts";
import { FREEZE_MS, OVERLAP_PERIOD_MS, OVERLAPS, PERIODS_MS } from "./settings.ts";
import { makeStore, type StoreKind } from "./stores.ts";
import { LIMIT, registerTasks } from "./tasks.ts";

export interface ChaosOptions {
  readonly store: StoreKind;
  /** Null runs on a file. */
  readonly server: ChaosServer | null;
  /** What carries events between the processes, and is killed and cut, too. Default: nothing does. */
  readonly broker?: BrokerServer | null;
  readonly seconds: number;
  readonly processes: number;
  readonly seed: number;
  readonly log?: (line: string) => void;
}

export interface ChaosReport {
  readonly kills: number;
  readonly freezes: number;
  readonly restartsOfServer: number;
  /** How often something else was done to the server, such as to cut its connections. */
  readonly disturbances: number;
  /** How often a server had to be started anew because it took no write any more. */
  readonly hangsOfServer: number;
  readonly restartsOfBroker: number;
  /** How often all connections of brokers were cut. */
  readonly cuts: number;
  readonly occurrences: number;
  readonly jobsAdded: number;
  readonly runs: number;
  /** Runs beyond the first of a job: what "at least once" costs. */
  readonly repeatedRuns: number;
  readonly limitChecks: number;
  /** How long jobs of the controller waited for their first run, in milliseconds: half of them at most `p50`. */
  readonly waits: { readonly p50: number; readonly p99: number };
  /** What was done with flow control. */
  readonly flow: FlowChaos["counts"];
  /** What broke the promise; empty in a clean run. */
  readonly violations: readonly string[];
}

/** How long healing may stand still before what is left counts as lost. */
const STANDSTILL_MS = HANG_MS;
/** How many hangs of the server are forgiven. */
const HANGS_MAX = 2;

/**
 * Lets several scheduler processes work on one store under load while they are killed, frozen past their leases, and
 * (on a server) lose the server; then heals, and checks the delivery promise against the ledger that the handlers kept.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const folder = await mkdtemp(join(tmpdir(), "escapement-chaos-"));
  const run = new ChaosRun(options, folder);
  try {
    return await run.run();
  } finally {
    await run.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

class ChaosRun {
  readonly #options: ChaosOptions;
  readonly #random: () => number;
  /** Where the store is: a url of the server's, or the path of a file. */
  readonly #place: string;
  readonly #ledger: string;
  readonly #bundle: string;
  readonly #workers = new Map<string, ChildProcess>();
  readonly #client: Scheduler;
  readonly #flow: FlowChaos;
  readonly #names: string[] = [];
  readonly #violations: string[] = [];
  readonly #addedAt = new Map<string, number>();
  readonly #counts = {
    ...{ kills: 0, freezes: 0, restartsOfServer: 0, disturbances: 0, hangsOfServer: 0, restartsOfBroker: 0, cuts: 0 },
    limitChecks: 0,
  };
  #identities = 0;
  #isServerUp = true;

  /** How many fire times each schedule skipped. */
  readonly #skipped = new Map<string, number>();

  constructor(options: ChaosOptions, folder: string) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
    this.#place = options.server?.url ?? join(folder, "chaos.db");
    this.#ledger = join(folder, "ledger.jsonl");
    this.#bundle = join(folder, "worker.mjs");
    const { broker } = options;
    this.#client = new Scheduler({
      dataStore: makeStore(options.store, this.#place),
      ...(broker == null ? {} : { eventBroker: makeBroker(broker.kind, broker.url, randomFrom(options.seed + 2)) }),
      identity: "controller",
      logLevel: "error",
    });
    registerTasks(this.#client, null);
    this.#flow = new FlowChaos(this.#client, randomFrom(options.seed + 1), options.server !== null);
  }

  async run(): Promise<ChaosReport> {
    await bundleProcess(fileURLToPath(new URL("worker.ts", import.meta.url)), this.#bundle);
    const startMs = Date.now() + 500;
    const endMs = startMs + this.#options.seconds * 1000;
    await this.#addSchedules(startMs, endMs);
    for (let left = this.#options.processes; left > 0; left--) this.#spawn(`worker-${this.#identities++}`);
    // On a busy machine the time may be over before the first strike.
    while (Date.now() < endMs || !this.#hasStruck) {
      await this.#addSomeJobs();
      await this.#flow.act();
      await this.#strike();
      await this.#checkLimit();
      await this.#flow.checkKeys();
      await pause(100 + this.#random() * 300);
    }
    await this.#heal();
    return this.#report(startMs, endMs);
  }

  /** Whether each part was struck that is to be. */
  get #hasStruck(): boolean {
    const { kills, freezes, restartsOfBroker, cuts, restartsOfServer } = this.#counts;
    const { server, broker } = this.#options;
    const isServerStruck = server?.disturb === undefined || restartsOfServer > 0;
    return kills + freezes > 0 && isServerStruck && (broker == null || restartsOfBroker + cuts > 0);
  }

  async dispose(): Promise<void> {
    const workers = [...this.#workers.values()];
    this.#workers.clear();
    for (const child of workers) child.kill("SIGKILL");
    await this.#client.stop();
  }

  async #addSchedules(startMs: number, endMs: number): Promise<void> {
    const range = { startTime: new Date(startMs), endTime: new Date(endMs) };
    for (const overlap of OVERLAPS) {
      const trigger = new IntervalTrigger({ milliseconds: OVERLAP_PERIOD_MS, ...range });
      await this.#client.addSchedule("slow", trigger, { id: overlap, overlap, coalesce: "all" });
    }
    for (const [index, periodMs] of PERIODS_MS.entries()) {
      const trigger = new IntervalTrigger({ milliseconds: periodMs, ...range });
      const task = (["quick", "slow", "limited"] as const)[index % 3] ?? "quick";
      await this.#client.addSchedule(task, trigger, { id: scheduleId(periodMs), coalesce: "all" });
    }
  }

  /** Under a name of their own, so that an addition whose fate is unknown can be told from one that never was. */
  async #addSomeJobs(): Promise<void> {
    const count = 1 + Math.floor(this.#random() * 10);
    const task = this.#random() < 0.3 ? "limited" : "quick";
    const names = Array.from({ length: count }, (_, index) => `${this.#names.length + index}`);
    try {
      await this.#client.addJobs(names.map((name) => ({ task, payload: { name } })));
      this.#names.push(...names);
      if (task === "quick") for (const name of names) this.#addedAt.set(name, Date.now());
    } catch (error) {
      if (this.#options.server === null) throw error;
      // The server is down: the addition was refused, or its fate is unknown. Either is allowed; nothing was
      // acknowledged.
      this.#names.push(...names.map(() => ""));
    }
  }

  async #strike(): Promise<void> {
    const [identity, child] = this.#pick();
    const dice = this.#random();
    if (dice < 0.12) {
      this.#counts.kills++;
      this.#log(`SIGKILL ${identity}`);
      this.#workers.delete(identity);
      child.kill("SIGKILL");
      // Half of them come back under their old identity, as a supervised service would.
      this.#spawn(this.#random() < 0.5 ? identity : `worker-${this.#identities++}`);
    } else if (dice < 0.18) {
      this.#counts.freezes++;
      this.#log(`SIGSTOP ${identity}`);
      child.kill("SIGSTOP");
      setTimeout(() => child.kill("SIGCONT"), FREEZE_MS);
    } else if (dice < 0.2 && this.#options.server !== null && this.#isServerUp) {
      this.#counts.restartsOfServer++;
      this.#log("server killed");
      this.#isServerUp = false;
      await this.#options.server.kill();
      await pause(this.#random() * 2000);
      await this.#options.server.resume();
      this.#isServerUp = true;
      this.#log("server back");
    } else if (dice < 0.35 && this.#options.server?.disturb !== undefined) {
      this.#counts.disturbances++;
      this.#log(await this.#options.server.disturb(this.#random));
    } else if (dice > 0.9) {
      await this.#strikeBroker();
    }
  }

  async #strikeBroker(): Promise<void> {
    const { broker } = this.#options;
    if (broker == null) return;
    if (this.#random() < 0.7) {
      this.#counts.cuts++;
      broker.cut();
      this.#log("connections of brokers cut");
      return;
    }
    this.#counts.restartsOfBroker++;
    this.#log("broker killed");
    await broker.kill();
    await pause(this.#random() * 2000);
    await broker.resume();
    this.#log("broker back");
  }

  /** Running jobs are those under live leases; one page is one consistent read. */
  async #checkLimit(): Promise<void> {
    let page: Page<{ acquiredUntil: { epochMilliseconds: number } | null }>;
    try {
      page = await this.#client.getJobs({ taskId: "limited", limit: 1000 });
    } catch (error) {
      if (this.#options.server === null) throw error;
      return;
    }
    this.#counts.limitChecks++;
    const now = Date.now();
    const running = page.items.filter(({ acquiredUntil }) => (acquiredUntil?.epochMilliseconds ?? 0) > now).length;
    if (running > LIMIT) this.#violations.push(`${running} jobs of "limited" ran at once, more than ${LIMIT}`);
  }

  async #heal(): Promise<void> {
    this.#log("healing");
    let ledgerSize = -1;
    let movedAt = Date.now();
    // Whoever is frozen is thawed by its timer; whoever was killed was replaced.
    await pause(FREEZE_MS);
    await this.#unpauseAll();
    for (;;) {
      const jobs = await this.#client.getJobs({ limit: 1 });
      const schedules = await this.#client.getSchedules({ limit: 1000 });
      const isDone = jobs.items.length === 0 && schedules.items.every(({ nextFireTime }) => nextFireTime === null);
      for (const { id, skippedCount } of schedules.items) this.#skipped.set(id, skippedCount);
      if (isDone) return;
      const { size } = statSync(this.#ledger, { throwIfNoEntry: false }) ?? { size: 0 };
      if (size !== ledgerSize) movedAt = Date.now();
      ledgerSize = size;
      if (Date.now() - movedAt > STANDSTILL_MS && (await this.#restartHungServer())) movedAt = Date.now();
      if (Date.now() - movedAt > STANDSTILL_MS) {
        this.#violations.push(`work was left, and nothing was done for ${STANDSTILL_MS} ms`);
        return;
      }
      await pause(200);
    }
  }

  async #unpauseAll(): Promise<void> {
    try {
      await this.#flow.unpauseAll();
    } catch (error) {
      if (!(await this.#restartHungServer())) throw error;
      await this.#unpauseAll();
    }
  }

  /** A killed sqld sometimes comes back with a lock for writing that nobody holds: then all its writers wait for the lock
   *  (in `ManagedConnectionWalWrapper::acquire`), and none runs a statement. Whoever operates it starts it anew. Returns
   *  whether that was done. */
  async #restartHungServer(): Promise<boolean> {
    const { server } = this.#options;
    if (server === null || this.#counts.hangsOfServer === HANGS_MAX) return false;
    this.#counts.hangsOfServer++;
    this.#log("server hangs");
    await server.kill();
    await server.resume();
    return true;
  }

  #report(startMs: number, endMs: number): ChaosReport {
    const entries = existsSync(this.#ledger) ? readLedger(this.#ledger) : [];
    const ended = entries.filter(({ event }) => event === "end");
    const jobIdsByOccurrence = new Map<string, Set<string>>();
    for (const entry of entries) {
      if (entry.fireTime === null) continue;
      add(jobIdsByOccurrence, `${entry.scheduleId} at ${entry.fireTime}`, entry.jobId);
    }
    for (const [occurrence, jobIds] of jobIdsByOccurrence) {
      if (jobIds.size > 1) this.#violations.push(`${occurrence} was enqueued ${jobIds.size} times`);
    }
    const occurrences = this.#checkOccurrences(ended, startMs, endMs);
    this.#checkSkips(ended, Math.floor((endMs - startMs) / OVERLAP_PERIOD_MS) + 1);
    this.#flow.check(entries);
    const endedNames = new Set(ended.map(({ name }) => name));
    const acknowledged = this.#names.filter((name) => name !== "");
    for (const name of acknowledged) if (!endedNames.has(name)) this.#violations.push(`job ${name} was never executed`);
    return {
      ...this.#counts,
      flow: this.#flow.counts,
      occurrences,
      jobsAdded: acknowledged.length,
      runs: entries.filter(({ event }) => event === "start").length,
      repeatedRuns: repeats(entries),
      waits: this.#waits(entries),
      violations: [...this.#violations, ...this.#flow.violations],
    };
  }

  #checkOccurrences(ended: readonly LedgerEntry[], startMs: number, endMs: number): number {
    const executed = new Set(ended.map(({ scheduleId: id, fireTime }) => `${id} at ${fireTime}`));
    let count = 0;
    for (const periodMs of PERIODS_MS) {
      for (let fireTime = startMs; fireTime <= endMs; fireTime += periodMs) {
        count++;
        const occurrence = `${scheduleId(periodMs)} at ${fireTime}`;
        if (!executed.has(occurrence)) this.#violations.push(`${occurrence} was never executed`);
      }
    }
    return count;
  }

  /** Every occurrence was executed or is counted as skipped. One that was executed, lost with its process before that
   *  was recorded, and then replaced, is both. */
  #checkSkips(ended: readonly LedgerEntry[], occurrences: number): void {
    for (const overlap of OVERLAPS) {
      const executed = new Set(ended.flatMap(({ scheduleId: id, fireTime }) => (id === overlap ? [fireTime] : [])))
        .size;
      const skipped = this.#skipped.get(overlap) ?? 0;
      const isComplete = executed + skipped === occurrences || (overlap !== "skip" && executed + skipped > occurrences);
      const text = `of ${occurrences} occurrences, ${executed} were executed and ${skipped} were skipped`;
      if (!isComplete || executed === 0 || skipped === 0) this.#violations.push(`with ${overlap}, ${text}`);
    }
  }

  #waits(entries: readonly LedgerEntry[]): ChaosReport["waits"] {
    const startedAt = new Map<string, number>();
    for (const { event, name, atMs } of entries) {
      if (event === "start" && name !== null && !startedAt.has(name)) startedAt.set(name, atMs);
    }
    const waits = [...this.#addedAt].map(([name, at]) => Math.max(0, (startedAt.get(name) ?? Number.NaN) - at));
    const sorted = waits.filter((ms) => !Number.isNaN(ms)).sort((a, b) => a - b);
    const rank = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
    return { p50: rank(0.5), p99: rank(0.99) };
  }

  #spawn(identity: string): void {
    const { store, broker } = this.#options;
    const reached = broker == null ? [] : [broker.kind, broker.url];
    const args = [this.#bundle, store, this.#place, this.#ledger, identity, ...reached];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    child.stderr?.on("data", (data: Buffer) => this.#log(`${identity}: ${data.toString().split("\n")[0]}`));
    this.#workers.set(identity, child);
    child.once("exit", (code, signal) => {
      if (this.#workers.get(identity) !== child) return;
      // Nobody killed it: a worker that ends by itself is a fault of ours.
      this.#violations.push(`${identity} ended by itself: ${signal ?? `code ${code}`}`);
      this.#workers.delete(identity);
    });
  }

  #pick(): [string, ChildProcess] {
    const workers = [...this.#workers];
    const picked = workers[Math.floor(this.#random() * workers.length)];
    if (picked === undefined) throw new Error("no worker is left");
    return picked;
  }

  #log(line: string): void {
    this.#options.log?.(line);
  }
}

function scheduleId(periodMs: number): string {
  return `every ${periodMs} ms`;
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set();
  set.add(value);
  sets.set(key, set);
}

function repeats(entries: readonly LedgerEntry[]): number {
  const starts = entries.filter(({ event }) => event === "start");
  return starts.length - new Set(starts.map(({ jobId }) => jobId)).size;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
