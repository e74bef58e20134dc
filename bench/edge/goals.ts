import type { EdgeRuntime } from "./host.ts";

/** CPU of one runtime, in milliseconds. */
export interface EdgeCosts {
  /** Above an empty program, by the names of programs. */
  readonly starts: Readonly<Record<string, number>>;
  /** A repetition, by the names of works. */
  readonly works: Readonly<Record<string, number>>;
}

/** A bound of a figure. */
export interface EdgeGoal {
  readonly title: string;
  readonly runtimes: readonly EdgeRuntime[];
  readonly unit: "x" | " ms";
  readonly most: number;
  readonly figure: (costs: EdgeCosts) => number;
}

const ALL: readonly EdgeRuntime[] = ["node", "deno", "bun", "workerd"];

function ratioOf(ours: string, theirs: string): (costs: EdgeCosts) => number {
  return ({ starts }) => (starts[ours] ?? Number.NaN) / (starts[theirs] ?? Number.NaN);
}

/** What is to be reached. */
export const EDGE_GOALS: readonly EdgeGoal[] = [
  {
    title: "importing escapement, over an empty module",
    runtimes: ["node"],
    unit: " ms",
    most: 65,
    figure: ({ starts }) => starts["import escapement"] ?? Number.NaN,
  },
  {
    title: "cron in UTC, of croner's",
    runtimes: ["node"],
    unit: "x",
    most: 2,
    figure: ratioOf("cron, UTC", "croner, UTC"),
  },
  {
    title: "cron in UTC, of croner's without a zone",
    runtimes: ["node"],
    unit: "x",
    most: 2,
    figure: ratioOf("cron, UTC", "croner, no zone"),
  },
  {
    title: "cron in UTC, over croner's without a zone",
    runtimes: ["workerd"],
    unit: " ms",
    most: 10,
    figure: ({ starts }) => (starts["cron, UTC"] ?? Number.NaN) - (starts["croner, no zone"] ?? Number.NaN),
  },
  {
    title: "cron in Berlin, of croner's",
    runtimes: ALL,
    unit: "x",
    most: 1.4,
    figure: ratioOf("cron, Berlin", "croner, Berlin"),
  },
  {
    title: "add and tick in Berlin, of croner's Berlin",
    runtimes: ALL,
    unit: "x",
    most: 2.5,
    figure: ratioOf("add and tick, Berlin", "croner, Berlin"),
  },
  {
    title: "a warm idle tick, of a raw request",
    runtimes: ALL,
    unit: "x",
    most: 3,
    figure: ({ works }) => (works.tick ?? Number.NaN) / (works.raw ?? Number.NaN),
  },
];
