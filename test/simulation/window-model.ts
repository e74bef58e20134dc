import { TOMBSTONE_MS } from "../../src/core/limits.ts";
import type { NewJobRecord } from "../../src/records/job.ts";

interface Window {
  readonly jobId: string;
  readonly until: number;
  /** Whether a clean-up by some clock found it over. */
  mayBeGone: boolean;
}

/** The windows of `throttle` and `uniqueFor`, told a second time. */
export class WindowModel {
  readonly #windows = new Map<string, Window>();

  /** The job that stands for an addition, and whether that is sure; null for none. */
  openerOf({ taskId, once, createdAt }: NewJobRecord): { readonly jobId: string; readonly isSure: boolean } | null {
    if (once === undefined) return null;
    const window = this.#windows.get(nameOf(taskId, once.kind, once.key));
    if (window === undefined || window.until <= createdAt) return null;
    return { jobId: window.jobId, isSure: !window.mayBeGone };
  }

  /** A job was added. */
  open({ id, taskId, once }: NewJobRecord): void {
    if (once === undefined) return;
    this.#windows.set(nameOf(taskId, once.kind, once.key), { jobId: id, until: once.until, mayBeGone: false });
  }

  onCleanup(now: number): void {
    for (const window of this.#windows.values()) if (window.until <= now - TOMBSTONE_MS) window.mayBeGone = true;
  }
}

function nameOf(taskId: string, kind: string, key: string): string {
  return `${taskId} ${kind} ${key}`;
}
