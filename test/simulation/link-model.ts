import type { JobRecord } from "../../src/records/job.ts";

/** What the end of a job does to those that wait for it. */
interface Consequences {
  readonly cancelled: readonly string[];
  readonly freed: readonly string[];
}

/** Which job waits for which, told a second time. */
export class LinkModel {
  readonly #open = new Map<string, Set<string>>();
  readonly #children = new Map<string, Map<string, JobRecord["onParentFailure"]>>();

  /** @param hasSucceeded whether a job ended well; null for one that has not ended
   *  @returns whether the job ends at once, because a parent did not succeed */
  add({ id, after = [], onParentFailure }: JobRecord, hasSucceeded: (id: string) => boolean | null): boolean {
    const open = new Set<string>();
    for (const parentId of after) {
      const isGood = hasSucceeded(parentId);
      if (isGood === false && onParentFailure !== "run") return true;
      if (isGood === null) open.add(parentId);
    }
    if (open.size === 0) return false;
    this.#open.set(id, open);
    for (const parentId of open) {
      const children = this.#children.get(parentId) ?? new Map();
      this.#children.set(parentId, children.set(id, onParentFailure));
    }
    return false;
  }

  /** Whether parents of a job have not ended. */
  isBlocked(id: string): boolean {
    return this.#open.has(id);
  }

  onEnd(id: string, hasSucceeded: boolean): Consequences {
    for (const parentId of this.#open.get(id) ?? []) this.#children.get(parentId)?.delete(id);
    this.#open.delete(id);
    const cancelled: string[] = [];
    const freed: string[] = [];
    for (const [childId, policy] of this.#children.get(id) ?? []) {
      const open = this.#open.get(childId);
      open?.delete(id);
      if (!hasSucceeded && policy !== "run") cancelled.push(childId);
      else if (open?.size === 0) {
        this.#open.delete(childId);
        freed.push(childId);
      }
    }
    this.#children.delete(id);
    return { cancelled, freed };
  }
}
