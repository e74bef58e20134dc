// Is one checkout slower than another? Runs a command in both, in turns, and prints for every cell of every table that the
// command prints the median of the ratios new / old, with its 95% interval:
//
//     node bench/compare-tables.mjs OLD_CHECKOUT NEW_CHECKOUT [--pairs=20] -- node bench/run.mjs cron-next --ours near
//
// A machine that others use is slow and fast by turns: the two runs of a pair are neighbours in time, and the order changes
// from pair to pair. The interval holds the true median with 95% probability, whatever the distribution (sign test). Ends
// with 1 when the interval of some cell lies wholly beyond 1.05.
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

const SLOWER = 1.05;
const UNITS_NS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();

function main() {
  const split = process.argv.indexOf("--");
  const options = process.argv.slice(2, split < 0 ? undefined : split);
  const command = split < 0 ? [] : process.argv.slice(split + 1);
  const [oldCheckout, newCheckout] = options.filter((option) => !option.startsWith("--"));
  const pairs = Number(options.find((option) => option.startsWith("--pairs="))?.slice(8) ?? 20);
  if (oldCheckout === undefined || newCheckout === undefined || command.length === 0 || !(pairs >= 6)) {
    console.error("node bench/compare-tables.mjs OLD_CHECKOUT NEW_CHECKOUT [--pairs=20, at least 6] -- command ...");
    process.exit(2);
  }
  const ratios = new Map();
  for (let pair = 0; pair < pairs; pair++) {
    const isOldFirst = pair % 2 === 0;
    const first = run(isOldFirst ? oldCheckout : newCheckout, command);
    const second = run(isOldFirst ? newCheckout : oldCheckout, command);
    const [before, after] = isOldFirst ? [first, second] : [second, first];
    for (const [name, value] of after) {
      const old = before.get(name);
      if (old === undefined) continue;
      if (!ratios.has(name)) ratios.set(name, []);
      ratios.get(name).push(value / old);
    }
    console.error(`pair ${pair + 1} of ${pairs}`);
  }
  const rows = [...ratios].map(([name, values]) => ({ name, ...medianWithInterval(values) }));
  for (const { name, median, low, high } of rows) {
    const verdict = low > SLOWER ? "  SLOWER" : high < 1 / SLOWER ? "  faster" : "";
    console.log(`${median.toFixed(3)}  [${low.toFixed(3)}, ${high.toFixed(3)}]  ${name}${verdict}`);
  }
  const slower = rows.filter(({ low }) => low > SLOWER).length;
  console.log(`\n${rows.length} cells, ${pairs} pairs: ${slower} slower by more than 5%`);
  process.exit(slower > 0 || rows.length === 0 ? 1 : 0);
}

function run(cwd, [program, ...args]) {
  const { stdout, stderr, status, error } = spawnSync(program, args, { cwd, encoding: "utf8", maxBuffer: 1 << 28 });
  if (status === 0) return readCells(stdout);
  console.error(`${cwd}: ${error?.message ?? stderr}`);
  process.exit(2);
}

/** The times in the tables of a text, in nanoseconds, by "title / row / column". */
export function readCells(text) {
  const cells = new Map();
  let title = "";
  let header = null;
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) [title, header] = [line.replace(/^#+\s*/, ""), null];
    if (!line.startsWith("|")) continue;
    const columns = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (header === null) header = columns;
    for (const [index, cell] of columns.entries()) {
      const [, number, unit] = /^([\d.]+) (ns|us|ms|s)$/.exec(cell) ?? [];
      if (number !== undefined && index > 0)
        cells.set(`${title} / ${columns[0]} / ${header[index]}`, number * UNITS_NS[unit]);
    }
  }
  return cells;
}

/** The median of values, and the pair of them that holds the true median with at least 95% probability. */
export function medianWithInterval(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
  // The number of values below the true median is binomial, with probability a half.
  let rank = 0;
  let probability = 0.5 ** sorted.length;
  for (let below = probability; below <= 0.025; ) {
    rank++;
    probability *= (sorted.length - rank + 1) / rank;
    below += probability;
  }
  const outer = Math.max(rank - 1, 0);
  return { median, low: sorted[outer], high: sorted[sorted.length - 1 - outer] };
}
