import { medianOf, summarize, verdictOf } from "./statistics.mjs";

const WORDS = {
  worse: "slower beyond 5%",
  better: "faster beyond 5%",
  "not worse": "not slower beyond 5%",
  same: "the same within 5%",
  open: "open",
};
const WORDS_OF_BYTES = {
  ...WORDS,
  worse: "heavier beyond 5%",
  better: "lighter beyond 5%",
  "not worse": "not heavier beyond 5%",
};
const HEADER = ["", "old", "new", "new / old", "95% interval", "verdict"];

/** Prints a table of all measures; returns whether anything is slower or heavier beyond the tolerance. */
export function printReport(measures) {
  const rows = measures.flatMap(({ name, answers }) =>
    answers[0].old.map((_, index) =>
      rowOf(
        name,
        answers.map((pair) => [pair.old[index], pair.new[index]]),
      ),
    ),
  );
  if (rows.length > 0) printTable(rows);
  return rows.some((row) => [WORDS.worse, WORDS_OF_BYTES.worse].includes(row.at(-1)));
}

function rowOf(measure, pairs) {
  const { name, unit } = pairs[0][0];
  const summary = summarize(pairs.map(([before, after]) => after.value / before.value));
  const medians = [0, 1].map((side) => medianOf(pairs.map((pair) => pair[side].value)));
  const { median, low, high } = summary;
  return [
    `${measure}: ${name}`,
    ...medians.map((value) => `${formatted(value)} ${unit}`),
    median.toFixed(3),
    `${low.toFixed(3)} - ${high.toFixed(3)}`,
    (unit === "bytes" ? WORDS_OF_BYTES : WORDS)[verdictOf(summary)],
  ];
}

/** Three digits, or all of a whole number. */
function formatted(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}

/** As Markdown reads it. */
function printTable(rows) {
  const widths = HEADER.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column].length)));
  const isText = (column) => column === 0 || column === HEADER.length - 1;
  const padded = (cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]));
  const rule = widths.map((width, column) => (isText(column) ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`));
  console.log(`| ${HEADER.map(padded).join(" | ")} |`);
  console.log(`|${rule.join("|")}|`);
  for (const row of rows) console.log(`| ${row.map(padded).join(" | ")} |`);
}
