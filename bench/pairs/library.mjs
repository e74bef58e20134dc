// What the programs of this folder need of the checkout that they measure. They use only what both checkouts export.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** Whether the checkout has this door of the package, such as "." or "./libsql". */
export function hasDoor(checkout, door) {
  return fileOf(checkout, door) !== undefined;
}

/** The public names behind a door, from the checkout's own `dist`. */
export function open(checkout, door = ".") {
  const file = fileOf(checkout, door);
  if (file === undefined) throw new Error(`${checkout} has no ${door}`);
  return import(new URL(file, `${pathToFileURL(checkout)}/`).href);
}

function fileOf(checkout, door) {
  return JSON.parse(readFileSync(`${checkout}/package.json`, "utf8")).exports[door]?.default;
}

/** Does the work, and returns what it took: by the clock, and in processor time with the collector's threads included,
 *  which other work on the machine changes less. Both in microseconds a piece. */
export async function timed(pieces, work) {
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await work();
  const clockUs = (performance.now() - start) * 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { clockUs: clockUs / pieces, cpuUs: (user + system) / pieces };
}

/** Two rows of the report, from what `timed` returned. */
export function rows(name, { clockUs, cpuUs }) {
  return [
    { name, unit: "us", value: clockUs },
    { name, unit: "us CPU", value: cpuUs },
  ];
}

/** A promise, and what resolves it when it has been called `count` times. */
export function countdown(count) {
  let left = count;
  let resolveDone = () => {};
  const done = new Promise((resolve) => {
    resolveDone = resolve;
  });
  const tick = () => {
    left--;
    if (left === 0) resolveDone();
  };
  return { done, tick };
}

/** Of sorted values. */
export function quantile(sorted, at) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))];
}
