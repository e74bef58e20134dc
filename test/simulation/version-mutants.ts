import type { TaskRecord } from "../../src/records/task.ts";
import { Committer } from "../../src/scheduler/driving/committer.ts";
import { FirePlanner } from "../../src/scheduler/firing/fire-planner.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { type Mutant, patched, store } from "./mutant.ts";

/** Faults that show where two versions of a program share a store. */
export const VERSIONS: readonly Mutant[] = [
  store(
    "lets an older version of a program replace the settings of a newer one",
    class extends MemoryDataStore {
      override putTasks(tasks: readonly TaskRecord[]): Promise<contract.TaskChange[]> {
        return super.putTasks(tasks.map(({ declaration: _, version: __, ...settings }) => settings));
      }
    },
  ),
  store(
    "lets a declaration replace another one than that of which it was made",
    class extends MemoryDataStore {
      override putTasks(tasks: readonly contract.TaskPut[]): Promise<contract.TaskChange[]> {
        return super.putTasks(tasks.map(({ replaces: _, ...task }) => task));
      }
    },
  ),
  patched("pauses schedules whose triggers it cannot read", FirePlanner.prototype, "readable", () => (due) => due),
  patched(
    "looks at schedules that it cannot read again and again",
    Committer.prototype,
    "look",
    (original) =>
      async function (this: Committer, now, dueBy) {
        const seen = await original.call(this, now, dueBy);
        return this.passesUntil < Number.POSITIVE_INFINITY && seen.nextFireAt === null
          ? { ...seen, nextFireAt: now }
          : seen;
      },
  ),
];
