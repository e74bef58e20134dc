import type { ScheduleRecord } from "../../../src/records/schedule.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { answering, type Mutant, scheduler, store } from "../mutant.ts";

const shown = <T extends contract.Seen>({ pauseEndsAt: _, ...seen }: T): Omit<T, "pauseEndsAt"> => seen;

/** Faults about pauses. */
export const PAUSE_MUTANTS: readonly Mutant[] = [
  scheduler("does not know when pauses end", (inner) => ({
    look: async (request) => shown(await inner.look(request)),
    commit: async (request) => shown(await inner.commit(request)),
  })),
  store(
    "ends the pauses of the next seconds with those of now",
    class extends MemoryDataStore {
      override async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
        if (request.endsPauses !== true) return super.commit(request);
        const { endedPauses } = await super.commit({
          ...request,
          ...{ now: request.now + 2000, releases: [], additions: [], plans: [], jobs: null, recover: false },
        });
        const report = await super.commit({ ...request, endsPauses: false });
        return endedPauses === undefined ? report : { ...report, endedPauses };
      }
    },
  ),
  store(
    "tells of the end of a pause in two commits",
    class extends MemoryDataStore {
      #last: contract.EndedPauses | undefined;
      override async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
        const report = await super.commit(request);
        const endedPauses = report.endedPauses ?? this.#last;
        this.#last = report.endedPauses;
        return endedPauses === undefined ? report : { ...report, endedPauses };
      }
    },
  ),
  store(
    "forgets the end of a pause that is paused once more",
    class extends MemoryDataStore {
      override async pauseTask(request: contract.TaskPauseRequest): Promise<boolean> {
        const isPaused = (await this.getTaskPauses()).some(({ taskId }) => taskId === request.taskId);
        if (!isPaused || !request.paused) return super.pauseTask(request);
        const { until: _, ...endless } = request;
        return super.pauseTask(endless);
      }
    },
  ),
  store(
    "counts no failure of jobs that were lost",
    answering(async (report, _request, inner) => {
      const ended = new Set(report.ended.map(({ scheduleId }) => scheduleId));
      for (const { id } of report.pausedSchedules ?? []) {
        if (ended.has(id)) await inner.updateSchedules([{ id, changes: { paused: false } }]);
      }
      return { ...report, pausedSchedules: (report.pausedSchedules ?? []).filter(({ id }) => !ended.has(id)) };
    }),
  ),
  store(
    "keeps the first failure of a schedule for the last",
    class extends MemoryDataStore {
      readonly #first = new Map<string, ScheduleRecord["lastFailure"]>();
      override async getSchedule(id: string): Promise<ScheduleRecord | null> {
        const schedule = await super.getSchedule(id);
        if (schedule?.lastFailure === undefined) return schedule;
        const first = this.#first.get(id) ?? schedule.lastFailure;
        this.#first.set(id, first);
        return { ...schedule, lastFailure: first };
      }
    },
  ),
  store(
    "goes on counting failures after a pause",
    class extends MemoryDataStore {
      readonly #paused = new Set<string>();
      override async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
        const report = await super.commit(request);
        for (const { id } of report.pausedSchedules ?? []) this.#paused.add(id);
        const again = request.releases.flatMap((release) => {
          const isFailure = release.kind === "finish" && release.result.outcome === "error";
          const id = isFailure ? (release.countsFor ?? "") : "";
          return this.#paused.has(id) ? [id] : [];
        });
        for (const id of again) await super.updateSchedules([{ id, changes: { paused: true } }]);
        return report;
      }
    },
  ),
];
