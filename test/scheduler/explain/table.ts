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

/** Tests that `explain` is right over a store, in one of so many rows; `npm run test:matrix` takes all. */
export function describeTable(storeName: string, makeStore: StoreMaker, every = 1): void {
  const stride = globalThis.process?.env.ESCAPEMENT_ALL_TESTS === undefined ? every : 1;
  describe.each(TABLE)(`over a ${storeName}, explain tells of %s:`, (_, rows) => {
    test.each(rows.filter((__, index) => index % stride === 0))("$name", (row) => checkRow(row, makeStore));
  });
}
