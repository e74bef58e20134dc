import { compareTexts } from "../../core/text.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import type { JobStepSave } from "../data-store.ts";

interface StepEntry {
  readonly step: JobStepRecord;
  readonly fence: number;
  readonly number: number;
}

/** The steps of the jobs of a memory store, by job and name. */
export class JobSteps {
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

  remove(jobId: string): void {
    this.#ofJobs.delete(jobId);
  }
}
