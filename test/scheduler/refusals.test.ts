import { describe, expect, test } from "vitest";
import type { CommitReport, CommitRequest, LeaseExtension, LeaseExtensionReport } from "../../src/contracts.ts";
import { LOOK_AHEAD_MS } from "../../src/core/timer-limits.ts";
import { MemoryDataStore, StoreUnavailableError } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, gate, heldHandler, recordEvents, rejectionOf, setUp } from "./support.ts";

/** Takes no job with the payload "bad", and cannot be reached for a commit once one carried "lost". The first commit
 *  waits. */
class RefusingStore extends MemoryDataStore {
  readonly first = gate();
  readonly settledCommitIds = new Set<string | null>();
  lostCommitId: string | null = null;

  override async commit(request: CommitRequest): Promise<CommitReport> {
    await this.first.passed;
    const payloads = request.additions.map(({ payload }) => payload);
    if (payloads.includes('"bad"')) throw new RangeError("refused");
    if (payloads.includes('"lost"')) this.lostCommitId = request.commitId;
    if (this.lostCommitId !== null) throw new StoreUnavailableError("gone");
    return super.commit(request);
  }

  override extendLeases(extension: LeaseExtension): Promise<LeaseExtensionReport> {
    this.settledCommitIds.add(extension.settledCommitId);
    return super.extendLeases(extension);
  }
}

describe("a commit that the store refuses", () => {
  test("answers every addition in it, also those that were not sent because the store went away", async () => {
    const store = new RefusingStore();
    const { scheduler, clock } = setUp({ dataStore: store });
    scheduler.task<string>("t", () => {});
    await scheduler.start();
    const first = scheduler.addJob("t", { payload: "first" });
    await clock.settle();
    const failures = ["lost", "bad", "good"].map((payload) => rejectionOf(scheduler.addJob("t", { payload })));
    await clock.settle();
    store.first.pass();
    await clock.advance({ seconds: 1 });
    const unavailable = expect.objectContaining({ code: "storeUnavailable" });
    expect(await Promise.all([first.then(({ taskId }) => taskId), ...failures])).toEqual([
      "t",
      unavailable,
      unavailable,
      unavailable,
    ]);
  });

  test("is not settled before its last part is, because that may lease when it is repeated", async () => {
    const store = new RefusingStore();
    const { scheduler, clock } = setUp({ dataStore: store, leaseDuration: { seconds: 3 } });
    const { handler } = heldHandler();
    scheduler.task<string>("t", handler);
    await scheduler.start();
    const first = scheduler.addJob("t", { payload: "first" });
    await clock.settle();
    const others = Promise.allSettled(["good", "bad", "lost"].map((payload) => scheduler.addJob("t", { payload })));
    await clock.settle();
    store.first.pass();
    await clock.advance({ seconds: 2 });
    await Promise.all([first, others]);
    const settled = [...store.settledCommitIds];
    expect(settled).toEqual([expect.any(String)]);
    expect(settled.filter((id) => (id ?? "") >= (store.lostCommitId ?? ""))).toEqual([]);
  });

  test("is sent in parts, and one commit that acquires follows the last of them", async () => {
    const store = new RefusingStore();
    const { scheduler, clock } = setUp({ dataStore: store });
    scheduler.task<string>("t", () => {});
    await scheduler.start();
    const first = scheduler.addJob("t", { payload: "first" });
    await clock.settle();
    const others = Promise.allSettled(["a", "bad", "b", "c"].map((payload) => scheduler.addJob("t", { payload })));
    const sent: [additions: number, acquires: boolean][] = [];
    const commit = store.commit.bind(store);
    store.commit = (request) => {
      if (sent.length > 0 || request.additions.length > 1) sent.push([request.additions.length, request.jobs !== null]);
      return commit(request);
    };
    store.first.pass();
    await clock.settle();
    await Promise.all([first, others]);
    // Outcomes are sent first, because the first job has ended meanwhile.
    const halves: typeof sent = [
      [2, false],
      [1, false],
      [1, false],
      [2, false],
    ];
    const parts: typeof sent = [[4, true], [0, false], [4, false], ...halves, [0, true]];
    expect(sent.slice(0, parts.length)).toEqual(parts);
  });

  test("goes on with the present, also when the clock was set back since it was refused", async () => {
    const clock = new VirtualClock(at(0));
    const aheadMs: number[] = [];
    const shownAheadMs: number[] = [];
    class SlowStore extends RefusingStore {
      override async commit(request: CommitRequest): Promise<CommitReport> {
        await this.first.passed;
        aheadMs.push(request.now - clock.now());
        if (request.schedules !== null) shownAheadMs.push(request.schedules.dueBy - clock.now());
        const hasRefused = request.additions.some(({ payload }) => payload === '"bad"');
        if (hasRefused) await clock.jumpTo(clock.instant.subtract({ seconds: 1 }));
        return super.commit(request);
      }
    }
    const store = new SlowStore();
    const { scheduler } = setUp({ clock, dataStore: store });
    scheduler.task<string>("t", { maxRunningJobs: null }, () => {});
    await scheduler.start();
    const added = Promise.allSettled(["bad", "good"].map((payload) => scheduler.addJob("t", { payload })));
    await clock.settle();
    store.first.pass();
    expect((await added).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(aheadMs.filter((ms) => ms !== 0)).toEqual([]);
    expect(aheadMs.length).toBeGreaterThan(2);
    expect(new Set(shownAheadMs)).toEqual(new Set([LOOK_AHEAD_MS]));
  });

  test("takes nothing along but what is refused", async () => {
    const store = new RefusingStore();
    const { scheduler, clock } = setUp({ dataStore: store });
    const ran: unknown[] = [];
    scheduler.task<string>("t", { maxRunningJobs: null }, (payload) => void ran.push(payload));
    await scheduler.start();
    const first = scheduler.addJob("t", { payload: "first" });
    await clock.settle();
    const good = scheduler.addJob("t", { payload: "good" });
    const bad = rejectionOf(scheduler.addJob("t", { payload: "bad" }));
    await clock.settle();
    store.first.pass();
    await clock.advance({ seconds: 1 });
    expect(await bad).toEqual(new RangeError("refused"));
    await Promise.all([first, good]);
    expect(ran).toEqual(["first", "good"]);
  });

  test("pauses a schedule whose plan is refused, and tells so, also when the answer to that is lost", async () => {
    const pauses: Pick<CommitRequest, "commitId" | "isRepetition">[] = [];
    class PlanRefusingStore extends MemoryDataStore {
      override async commit(request: CommitRequest): Promise<CommitReport> {
        const { plans, commitId, isRepetition } = request;
        if (plans.some(({ fires }) => fires.length > 0)) throw new RangeError("refused");
        const report = await super.commit(request);
        if (plans.length > 0 && pauses.push({ commitId, isRepetition }) === 1) throw new StoreUnavailableError("lost");
        return report;
      }
    }
    const { scheduler, clock } = setUp({ dataStore: new PlanRefusingStore() });
    scheduler.task("t", () => {});
    const events = recordEvents(scheduler);
    await scheduler.addSchedule("t", everySecond(), { id: "refused" });
    await scheduler.start();
    await clock.advance({ seconds: 5 });
    expect((await scheduler.getSchedule("refused")).paused).toBe(true);
    expect(events.filter((event) => event === "scheduleFailed")).toEqual(["scheduleFailed"]);
    const [first] = pauses;
    expect(pauses).toEqual([first, { commitId: first?.commitId, isRepetition: true }]);
  });

  test("tells no outcome of a job that somebody else ended before the outcome was replaced", async () => {
    class ResultRefusingStore extends MemoryDataStore {
      isLost = false;

      override async commit(request: CommitRequest): Promise<CommitReport> {
        const release = request.releases.find(({ kind }) => kind === "finish");
        if (release?.kind !== "finish" || release.result.returnValue === null) return super.commit(request);
        if (this.isLost) throw new RangeError("refused");
        this.isLost = true;
        const abandoned = { ...release.result, outcome: "abandoned", returnValue: null } as const;
        await super.commit({
          ...request,
          commitId: "other",
          releases: [{ ...release, result: abandoned }],
          jobs: null,
        });
        throw new StoreUnavailableError("lost");
      }
    }
    const { scheduler, clock } = setUp({ dataStore: new ResultRefusingStore() });
    scheduler.task("t", () => "refused");
    const events = recordEvents(scheduler);
    await scheduler.start();
    const { id } = await scheduler.addJob("t");
    await clock.advance({ seconds: 5 });
    expect((await scheduler.getJobResult(id))?.outcome).toBe("abandoned");
    expect(events.filter((event) => event.startsWith("jobReleased"))).toEqual([]);
  });

  test("tells no outcome that was only in a refused commit, of a job that somebody else ended since", async () => {
    class LosingStore extends MemoryDataStore {
      readonly lost = new Set<string>();

      override async commit(request: CommitRequest): Promise<CommitReport> {
        const finished = request.releases.filter(({ kind }) => kind === "finish");
        const values = finished.map((release) => (release.kind === "finish" ? release.result.returnValue : null));
        const text = values.join();
        if (text === "1,2,3,4" && !this.lost.has(text)) this.#lose(text);
        if (values.includes("4")) throw new RangeError("refused");
        if (text === "1,2" && !this.lost.has(text)) {
          await this.#endThird(request.schedulerId);
          this.#lose(text);
        }
        return super.commit(request);
      }

      #lose(text: string): never {
        this.lost.add(text);
        throw new StoreUnavailableError("lost");
      }

      async #endThird(schedulerId: string): Promise<void> {
        const third = (await this.getJobs({ limit: 10, cursor: null })).items[2];
        const lease = third === undefined ? null : { jobId: third.id, fence: third.fence };
        if (lease === null) throw new Error("there is no third job");
        const givenUp = { ...lease, kind: "giveUp", hasStarted: true } as const;
        const at = { now: clock.now(), until: clock.now(), schedulerId, jobs: null, schedules: null };
        const commit = { commitId: "other", isRepetition: false, recover: true, additions: [], plans: [] };
        await super.commit({ ...at, ...commit, releases: [givenUp] });
      }
    }
    const store = new LosingStore();
    const { scheduler, clock } = setUp({ dataStore: store });
    const all = gate();
    scheduler.task<number>("t", { maxRunningJobs: null, maxRecoveries: 0 }, async (payload) => {
      await all.passed;
      return payload;
    });
    const told: [string, string][] = [];
    scheduler.subscribe("jobReleased", ({ jobId, outcome }) => void told.push([jobId, outcome]));
    await scheduler.start();
    const jobs = await scheduler.addJobs([1, 2, 3, 4].map((payload) => ({ task: "t", payload })));
    await clock.settle();
    all.pass();
    await clock.advance({ minutes: 1 });
    expect([...store.lost]).toEqual(["1,2,3,4", "1,2"]);
    const [first, second, third, fourth] = jobs.map(({ id }) => id);
    expect((await scheduler.getJobResult(third ?? ""))?.outcome).toBe("abandoned");
    expect(told).toEqual([
      [first, "success"],
      [second, "success"],
      [fourth, "error"],
    ]);
  });
});
