import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allBounds, boundsOf, boundsPage } from "../scripts/lib/bounds.mjs";
import { withContents } from "../scripts/lib/pages.mjs";
import { ROOT } from "./package/stage.ts";

const bounds = allBounds(ROOT);

test("docs/bounds.md is what the code says (npm run build:bounds)", () => {
  expect(bounds.length).toBeGreaterThan(200);
  expect(readFileSync(join(ROOT, "docs/bounds.md"), "utf8")).toBe(withContents(boundsPage(bounds)));
});

test("each bound has a reason, in the comment before it", () => {
  const bare = bounds.filter(({ reason }) => reason.split(" ").length < 4);
  expect(bare.map(({ path, names }) => `${path}: ${names.map(({ name }) => name)}`)).toEqual([]);
});

test("bounds are found with their values and the comment that they share", () => {
  const text = `/** Most tries,
 *  because each costs a second. */
export const TRIES_MAX = 1_000;
export const PAUSE_MS: number = 30 * 86_400_000;

const OTHER_MAX = TRIES_MAX;
const LIST_MAX = [1];
`;
  const names = [
    { name: "TRIES_MAX", value: "1,000" },
    { name: "PAUSE_MS", value: "30 * 86,400,000" },
  ];
  const reason = "Most tries, because each costs a second.";
  const other = { names: [{ name: "OTHER_MAX", value: "TRIES_MAX" }], reason: "" };
  expect(boundsOf("src/a/limits.ts", text)).toEqual([
    { path: "src/a/limits.ts", names, reason },
    { path: "src/a/limits.ts", ...other },
  ]);
  expect(boundsOf("src/a/b.ts", text)).toEqual([
    { path: "src/a/b.ts", names: names.slice(0, 1), reason },
    { path: "src/a/b.ts", ...other },
  ]);
});
