import { describe, test } from "vitest";
import { checkRow, type Row, type StoreMaker } from "../explain-world.ts";
import { catchUps } from "./catch-ups.ts";
import { changes } from "./changes.ts";
import { clocks } from "./clocks.ts";
import { ends } from "./ends.ts";
import { instants } from "./instants.ts";
import { memories } from "./memories.ts";
import { pauses } from "./pauses.ts";
import { waits } from "./waits.ts";

/** What `explain` must answer, by topic. */
const TABLE: readonly (readonly [topic: string, rows: readonly Row[]])[] = [
  ["an instant", instants],
  ["what clocks do", clocks],
  ["a wait", waits],
  ["a pause", pauses],
  ["a change", changes],
  ["the end of a job", ends],
  ["catching up", catchUps],
  ["what a store remembers", memories],
];

/** Tests that `explain` is right over a store. */
export function describeTable(storeName: string, makeStore: StoreMaker): void {
  describe.each(TABLE)(`over a ${storeName}, explain tells of %s:`, (_, rows) => {
    test.each(rows)("$name", (row) => checkRow(row, makeStore));
  });
}
