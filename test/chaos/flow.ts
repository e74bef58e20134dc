import type { JobOptions, Scheduler } from "../../src/mod.ts";
import type { LedgerEntry } from "./ledger.ts";
import { KEY_LIMIT, KEYS, RATE } from "./settings.ts";

/** What the controller of a chaos run does with flow control, and what must hold about it. */
export class FlowChaos {
  readonly #client: Scheduler;
  readonly #random: () => number;
  readonly #mayFail: boolean;
  readonly #expected: Expectation[] = [];
  readonly #pauses: Pause[] = [];
  readonly counts = { keyChecks: 0, pauses: 0, chains: 0, bursts: 0 };
  readonly violations: string[] = [];
  #names = 0;

  /** @param mayFail whether the store is a server, which is killed too */
  constructor(client: Scheduler, random: () => number, mayFail: boolean) {
    this.#client = client;
    this.#random = random;
    this.#mayFail = mayFail;
  }

  /** A little of everything. */
  async act(): Promise<void> {
    await this.#try(() => this.#addKeyed());
    const dice = this.#random();
    if (dice < 0.3) await this.#try(() => this.#addChain());
    else if (dice < 0.5) await this.#try(() => this.#debounce());
    else if (dice < 0.7) await this.#try(() => this.#throttle());
    else await this.#try(() => this.#pause());
  }

  /** Running jobs are those under live leases; one page is one consistent read. */
  async checkKeys(): Promise<void> {
    await this.#try(async () => {
      const { items } = await this.#client.getJobs({ taskId: "keyed", limit: 1000 });
      const now = Date.now();
      this.counts.keyChecks++;
      for (const key of KEYS) {
        const running = items.filter((job) => job.concurrencyKey === key && isLive(job.acquiredUntil, now)).length;
        if (running > KEY_LIMIT) this.violations.push(`${running} jobs of ${key} ran at once, more than ${KEY_LIMIT}`);
      }
    });
  }

  /** Everything that is paused goes on. */
  async unpauseAll(): Promise<void> {
    for (const pause of this.#pauses) if (!pause.isOver) await this.#unpause(pause);
  }

  /** Compares what was run with what was asked for. */
  check(entries: readonly LedgerEntry[]): void {
    for (const { what, isKept } of this.#expected) if (!isKept(entries)) this.violations.push(what);
    const starts = entries.filter(({ event }) => event === "start");
    this.#checkRate(starts);
    for (const pause of this.#pauses) this.#checkPause(pause, starts);
  }

  async #addKeyed(): Promise<void> {
    const count = 1 + Math.floor(this.#random() * 8);
    const task = this.#random() < 0.6 ? "keyed" : "rated";
    const key = this.#key();
    const names = Array.from({ length: count }, () => this.#name());
    const payloadOf = (name: string) => ({ name, key: this.#random() < 0.7 ? key : this.#key() });
    await this.#client.addJobs(names.map((name) => ({ task, payload: payloadOf(name) })));
    for (const name of names) this.#expect(`job ${name} of ${task} was never executed`, hasEnded(name));
  }

  /** Three jobs, and one after them, which is cancelled if one of them fails for good. */
  async #addChain(): Promise<void> {
    this.counts.chains++;
    const names = [this.#name(), this.#name(), this.#name()];
    const child = this.#name();
    const fails = this.#random() < 0.4;
    const onParentFailure = this.#random() < 0.5 ? "run" : "cancel";
    const parents = names.map((name, index) => ({ task: "keyed", payload: { name, fails: fails && index === 1 } }));
    // biome-ignore lint/suspicious/noThenProperty: that is how the option is called
    await this.#client.addBatch(parents, { then: { task: "quick", payload: { name: child }, onParentFailure } });
    const runs = !fails || onParentFailure === "run";
    const text = `job ${child} after [${names}] was ${runs ? "never executed" : "executed though one failed"}`;
    this.#expect(text, (entries) => entries.some(({ event, name }) => event === "end" && name === child) === runs);
    this.#expect(`job ${child} started before [${names}] had ended`, (entries) => {
      const startAt = entries.findIndex(({ name }) => name === child);
      const before = entries.slice(0, Math.max(0, startAt));
      const hasRun = (one: string): boolean => before.some(({ event, name }) => event !== "start" && name === one);
      return startAt < 0 || names.every(hasRun);
    });
  }

  /** A burst, of which the last addition counts. */
  async #debounce(): Promise<void> {
    this.counts.bursts++;
    const debounce = { key: this.#name(), wait: { milliseconds: DEBOUNCE_MS } };
    const names: string[] = [];
    const startMs = Date.now();
    const ids = await this.#addOneByOne(names, () => ({ debounce }));
    const isSlow = Date.now() - startMs >= DEBOUNCE_MS;
    const last = names.at(-1) ?? "";
    this.#expect(`job ${last}, the last of a burst, was never executed`, hasEnded(last));
    if (isSlow) return;
    if (ids.size > 1) this.violations.push(`a burst made ${ids.size} jobs`);
    this.#expect(`a burst executed others of [${names}] than ${last}`, isAlone(names, last));
  }

  /** A burst, of which the first addition counts. */
  async #throttle(): Promise<void> {
    this.counts.bursts++;
    const key = this.#name();
    const isUnique = this.#random() < 0.5;
    const names: string[] = [];
    const options = isUnique
      ? { idempotencyKey: key, uniqueFor: { minutes: 10 } }
      : { throttle: { key, per: { minutes: 10 } } };
    const ids = await this.#addOneByOne(names, () => options);
    if (ids.size > 1) this.violations.push(`a window made ${ids.size} jobs`);
    const [first = ""] = names;
    this.#expect(`job ${first}, the first of a window, was never executed`, hasEnded(first));
    this.#expect(`a window executed others of [${names}] than ${first}`, isAlone(names, first));
  }

  /** @param names gets those of the jobs */
  async #addOneByOne(names: string[], options: () => JobOptions): Promise<Set<string>> {
    const ids = new Set<string>();
    for (let left = 3; left > 0; left--) {
      const name = this.#name();
      const { id } = await this.#client.addJob("quick", { ...options(), payload: { name } });
      names.push(name);
      ids.add(id);
    }
    return ids;
  }

  async #pause(): Promise<void> {
    const open = this.#pauses.find(({ isOver }) => !isOver);
    if (open !== undefined) {
      await this.#unpause(open);
      return;
    }
    this.counts.pauses++;
    const key = this.#random() < 0.7 ? this.#key() : null;
    const taskId = key === null ? "slow" : "keyed";
    const pause: Pause = { taskId, key, sinceMs: Number.POSITIVE_INFINITY, untilMs: null, isOver: false };
    // Listed first, because the fate of the call may be unknown.
    this.#pauses.push(pause);
    await this.#client.pauseTask(taskId, key === null ? {} : { key });
    pause.sinceMs = Date.now();
  }

  async #unpause(pause: Pause): Promise<void> {
    const { taskId, key } = pause;
    pause.untilMs ??= Date.now();
    await this.#client.unpauseTask(taskId, key === null ? {} : { key });
    pause.isOver = true;
  }

  /** Nothing was acquired after the pause and started before its end. */
  #checkPause({ taskId, key, sinceMs, untilMs }: Pause, starts: readonly LedgerEntry[]): void {
    for (const start of starts) {
      if (start.taskId !== taskId || (key !== null && start.key !== key)) continue;
      if (start.acquiredMs <= sinceMs || start.atMs >= (untilMs ?? 0)) continue;
      this.violations.push(
        `job ${start.jobId} of ${taskId} was acquired ${start.acquiredMs - sinceMs} ms into a pause`,
      );
    }
  }

  /** An attempt starts after the instant that its commit took for the present, and before its handler is called. So no
   *  more than the rate allows can have both within the time. A commit that was frozen on its way is left out by that. */
  #checkRate(starts: readonly LedgerEntry[]): void {
    const most = RATE.limit + RATE.burst - 1;
    for (const key of KEYS) {
      const own = starts.filter(({ taskId, key: other }) => taskId === "rated" && other === key);
      for (const { acquiredMs: fromMs } of own) {
        const within = own.filter(({ acquiredMs, atMs }) => acquiredMs >= fromMs && atMs < fromMs + RATE.perMs - 1);
        if (within.length > most) this.violations.push(`${within.length} jobs of ${key} started in ${RATE.perMs} ms`);
      }
    }
  }

  #expect(what: string, isKept: Expectation["isKept"]): void {
    this.#expected.push({ what, isKept });
  }

  #key(): string {
    return KEYS[Math.floor(this.#random() * KEYS.length)] ?? "";
  }

  #name(): string {
    return `flow ${this.#names++}`;
  }

  /** While the server is down, nothing is acknowledged. */
  async #try(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!this.#mayFail) throw error;
    }
  }
}

/** Longer than three additions take. */
const DEBOUNCE_MS = 1000;

interface Expectation {
  readonly what: string;
  readonly isKept: (entries: readonly LedgerEntry[]) => boolean;
}

interface Pause {
  readonly taskId: string;
  /** Null for the whole task. */
  readonly key: string | null;
  /** When it was acknowledged. */
  sinceMs: number;
  /** When its end was first asked for; null before. */
  untilMs: number | null;
  /** Whether its end was acknowledged. */
  isOver: boolean;
}

function hasEnded(name: string): Expectation["isKept"] {
  return (entries) => entries.some((entry) => entry.event === "end" && entry.name === name);
}

/** Whether no other of the names was run. */
function isAlone(names: readonly string[], one: string): Expectation["isKept"] {
  return (entries) => !entries.some(({ name }) => name !== null && name !== one && names.includes(name));
}

function isLive(until: { readonly epochMilliseconds: number } | null, now: number): boolean {
  return (until?.epochMilliseconds ?? 0) > now;
}
