import { compareTexts } from "../../core/text.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import type { JobStepSave } from "../data-store.ts";

interface StepEntry {
  readonly step: JobStepRecord;
  readonly fence: number;
  readonly number: number;
}

/** The steps of the jobs of a memory store, by job and name. */
export class StepsOfJobs {
  readonly #ofJobs = new Map<string, Map<string, StepEntry>>();

  put({ jobId, fence, number, step }: JobStepSave): void {
    let steps = this.#ofJobs.get(jobId);
    if (steps === undefined) {
      steps = new Map();
      this.#ofJobs.set(jobId, steps);
    }
    const stored = steps.get(step.name);
    const isLate = stored !== undefined && (stored.fence - fence || stored.number - number) > 0;
    if (isLate || (stored?.step.endedAt ?? null) !== null) return;
    steps.set(step.name, { step: Object.freeze({ ...step }), fence, number });
  }

  get(jobId: string): JobStepRecord[] {
    const steps = [...(this.#ofJobs.get(jobId)?.values() ?? [])].map(({ step }) => step);
    return steps.sort((a, b) => a.startedAt - b.startedAt || compareTexts(a.name, b.name));
  }

  copy(from: string, to: string): void {
    const steps = this.#ofJobs.get(from);
    if (steps === undefined) return;
    const copies = [...steps].map(([name, { step }]) => [name, { step, fence: 0, number: 0 }] as const);
    this.#ofJobs.set(to, new Map(copies));
  }

  /** Lets a job that fell asleep after an instant sleep as long from it. Returns when it began to. */
  takeBack(jobId: string, after: number): number {
    const steps = this.#ofJobs.get(jobId) ?? new Map<string, StepEntry>();
    const began = [0];
    for (const [name, { step, ...entry }] of steps) {
      const { startedAt, wakeAt, endedAt } = step;
      if (wakeAt === null || endedAt !== null || startedAt <= after) continue;
      began.push(startedAt);
      const wakesAt = after + wakeAt - startedAt;
      steps.set(name, { ...entry, step: Object.freeze({ ...step, startedAt: after, wakeAt: wakesAt }) });
    }
    return Math.max(...began);
  }

  remove(jobId: string): void {
    this.#ofJobs.delete(jobId);
  }
}
