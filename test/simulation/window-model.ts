import type { NewJobRecord } from "../../src/records/job.ts";
import { CLOCK_TOLERANCE_MS, TOMBSTONE_MS } from "../../src/stores/shared/limits.ts";

interface Window {
  readonly jobId: string;
  openedAt: number;
  until: number;
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

  /** The opener stands for an addition. A window that a clock far ahead opened lasts from there on. */
  kept({ taskId, once, createdAt }: NewJobRecord): void {
    const window = once === undefined ? undefined : this.#windows.get(nameOf(taskId, once.kind, once.key));
    if (once === undefined || window === undefined || window.openedAt <= createdAt + CLOCK_TOLERANCE_MS) return;
    Object.assign(window, { openedAt: createdAt, until: once.until, mayBeGone: false });
  }

  /** A job was added. */
  open({ id, taskId, once, createdAt: openedAt }: NewJobRecord): void {
    if (once === undefined) return;
    const window = { jobId: id, openedAt, until: once.until, mayBeGone: false };
    this.#windows.set(nameOf(taskId, once.kind, once.key), window);
  }

  onCleanup(now: number): void {
    for (const window of this.#windows.values()) if (window.until <= now - TOMBSTONE_MS) window.mayBeGone = true;
  }
}

function nameOf(taskId: string, kind: string, key: string): string {
  return `${taskId} ${kind} ${key}`;
}
