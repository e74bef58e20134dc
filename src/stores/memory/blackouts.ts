import { compareTexts } from "../../core/text.ts";
import type { BlackoutRecord } from "../../records/blackout.ts";
import type { BlackoutAddition, BlackoutAdditionReport, BlackoutList } from "../contract/blackout-types.ts";
import { blackoutChange } from "../shared/blackouts.ts";
import { BLACKOUT_KEPT_MS, BLACKOUTS_MAX } from "../shared/limits.ts";
import { frozenCopy } from "./frozen-copies.ts";

/** The blackouts of a memory store. */
export class Blackouts {
  readonly #byId = new Map<string, BlackoutRecord>();
  /** Grows with each change. */
  version = 0;

  list(): BlackoutList {
    const items = [...this.#byId.values()].sort((a, b) => compareTexts(a.id, b.id));
    return { version: this.version, items };
  }

  add(addition: BlackoutAddition): BlackoutAdditionReport {
    const blackout = frozenCopy(addition.blackout);
    const stored = this.#byId.get(blackout.id);
    if (stored === undefined && this.#byId.size >= BLACKOUTS_MAX) return { change: "full", blackout };
    const change = stored === undefined ? "added" : blackoutChange(stored, addition);
    if (stored !== undefined && change !== "replaced") return { change, blackout: stored };
    this.#byId.set(blackout.id, blackout);
    this.version++;
    return { change, blackout };
  }

  remove(id: string): BlackoutRecord | null {
    const stored = this.#byId.get(id) ?? null;
    if (stored === null) return null;
    this.#byId.delete(id);
    this.version++;
    return stored;
  }

  /** Removes those that ended long ago, and do not recur. */
  cleanup(now: number): void {
    for (const { id, until } of this.#byId.values()) {
      if (until !== null && until <= now - BLACKOUT_KEPT_MS) this.remove(id);
    }
  }
}
