// @ts-check

/**
 * What package.json's `exports` leads to below `dist`, whatever the conditions: the sources that are built to its files,
 * and its declarations.
 *
 * @param {{ exports: unknown }} manifest
 * @returns {{ sources: string[], declarations: string[] }} paths from the root, and paths below `dist`
 */
export function builtDoors({ exports }) {
  const files = [...new Set(leavesOf(exports))].filter((path) => path.startsWith("./dist/"));
  const below = files.map((path) => path.slice("./dist/".length)).sort();
  return {
    sources: below.filter((path) => path.endsWith(".js")).map((path) => `src/${path.replace(/\.js$/, ".ts")}`),
    declarations: below.filter((path) => path.endsWith(".d.ts")),
  };
}

/** @param {unknown} conditions @returns {string[]} */
function leavesOf(conditions) {
  if (typeof conditions === "string") return [conditions];
  if (typeof conditions !== "object" || conditions === null) return [];
  return Object.values(conditions).flatMap(leavesOf);
}
