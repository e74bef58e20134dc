// How long does it take to find when a cron expression fires next, here and in the libraries that do the same?
// Method and last results: README.md. Run by run.mjs.
import { CompiledBatch, CompiledCron } from "../src/cron/compiled-cron.ts";
import { kernel, upload } from "../src/cron/kernel.ts";
import { parseCrontab } from "../src/cron/parse.ts";
import type { CronSpec } from "../src/cron/spec.ts";
import { zoneTable } from "../src/cron/zone.ts";
import { CronTrigger } from "../src/triggers/cron.ts";
import { CronBatch } from "../src/triggers/cron-batch.ts";
import { EXPRESSIONS, mixedExpressions } from "./lib/expressions.ts";
import { INSTANTS, instantsNear, instantsOfACentury, NOW } from "./lib/instants.ts";
import { type Contestant, loopOver, measure, workDone } from "./lib/measure.ts";
import { type Expression, type Next, nodeCronFromPresent, OURS, PEERS, type Peer } from "./lib/peers.ts";
import { formatNs, formatRatio, printTable } from "./lib/table.ts";

const ZONE = "America/New_York";
const CHECKED = 24;
const NOTHING = new Float64Array(1);

const only = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const goals: [string, string, string][] = [];

const near = instantsNear();
const anywhere = instantsOfACentury();

section("near", () => compareNext("Single next, instants of one day near the present", near, false));
section("random", () => compareNext("Single next, random instants of 1990-2089", anywhere, true));
section("thousand", compareThousand);
section("present", compareFromPresent);
section("batch", timeBatches);
section("mixed", timeMixed);
section("expand", timeExpand);
section("parse", compareParse);
section("parts", timeParts);
if (goals.length > 0) printTable("Goals", ["Row", "Measured", "Goal"], goals);
console.log(`\n${runtimeName()}; checksum ${workDone().toExponential(3)}`);

function section(name: string, run: () => void): void {
  if (only.length === 0 || only.includes(name)) run();
}

// Every library on every expression, with and without a zone, once each has been asked what ours answers.
function compareNext(title: string, afters: Float64Array, isFar: boolean): void {
  for (const timeZone of [null, ZONE]) {
    const peers = PEERS.filter((peer) => !(isFar && peer.isNearOnly));
    const notes: string[] = [];
    const rows = EXPRESSIONS.map((expression) => {
      const ours = compileOurs(expression, timeZone);
      const contestants: Contestant[] = [];
      for (const peer of peers) {
        const next = peer.compile(expression, timeZone);
        if (next === null) continue;
        const differences = countDifferences(ours, next, afters);
        if (differences > 0)
          notes.push(`${peer.name} answers ${differences} of ${CHECKED} otherwise on "${expression.cron}"`);
        contestants.push({ name: peer.name, run: loopOver(next, afters) });
      }
      return rowOf(expression, peers, contestants, isFar ? null : timeZone);
    });
    printTable(
      `${title}, ${timeZone ?? "no zone (UTC)"}`,
      ["Expression", ...peers.map(({ name }) => name), "croner / ours"],
      rows,
    );
    for (const note of notes) console.log(`Differs: ${note}.`);
  }
}

function compileOurs(expression: Expression, timeZone: string | null): Next {
  return OURS.compile(expression, timeZone) ?? (() => null);
}

function countDifferences(ours: Next, theirs: Next, afters: Float64Array): number {
  return afters.subarray(0, CHECKED).filter((after) => ours(after) !== theirs(after)).length;
}

function rowOf(
  expression: Expression,
  peers: readonly Peer[],
  contestants: readonly Contestant[],
  goalZone: string | null,
): string[] {
  const timings = new Map(measure(contestants).map(({ name, ns }) => [name, ns]));
  const ours = timings.get(OURS.name) ?? Number.NaN;
  const ratio = (timings.get("croner") ?? Number.NaN) / ours;
  if (goalZone !== null) {
    goals.push([`nextMs "${expression.cron}", ${goalZone}`, formatNs(ours), expression.isDense ? "15 ns" : "20 ns"]);
    goals.push([`croner / ours "${expression.cron}"`, formatRatio(ratio), expression.isDense ? "1000x" : "400x"]);
  }
  const cells = peers.map(({ name }) => {
    const ns = timings.get(name);
    return ns === undefined ? "-" : formatNs(ns);
  });
  return [expression.cron, ...cells, formatRatio(ratio)];
}

function compareThousand(): void {
  const peers = PEERS.filter((peer) => peer.thousand !== undefined);
  const rows = EXPRESSIONS.slice(0, 6).map((expression) => {
    const contestants: Contestant[] = [];
    for (const peer of peers) {
      const run = peer.thousand?.(expression, ZONE);
      if (run !== undefined) contestants.push({ name: peer.name, run: repeat(() => run(NOW)), itemsPerRun: 1000 });
    }
    const trigger = CronTrigger.fromCrontab(expression.cron, { timeZone: ZONE });
    const from = new Date(NOW + 1);
    const expand = (): number => trigger.expand({ from, limit: 1000 })[999] ?? 0;
    const timings = measure([...contestants, { name: "expand", run: repeat(expand), itemsPerRun: 1000 }]);
    const nsOf = (name: string): number => timings.find((timing) => timing.name === name)?.ns ?? Number.NaN;
    const croner = nsOf("croner");
    return [
      expression.cron,
      ...[nsOf(OURS.name), nsOf("expand"), croner, nsOf("cron-parser")].map(formatNs),
      formatRatio(croner / nsOf(OURS.name)),
      formatRatio(croner / nsOf("expand")),
    ];
  });
  const header = ["Expression", "nextMs", "expand", "croner", "cron-parser", "croner / nextMs", "croner / expand"];
  printTable(`1,000 consecutive fire times, a fire, ${ZONE}`, header, rows);
}

function compareFromPresent(): void {
  const rows = EXPRESSIONS.map((expression) => {
    const trigger = CronTrigger.fromCrontab(expression.cron, { timeZone: ZONE });
    const theirs = nodeCronFromPresent(expression.cron, ZONE);
    const ours = { name: "ours", run: repeat(() => trigger.nextMs(Date.now()) ?? 0) };
    if (theirs === null) return [expression.cron, formatNs(measure([ours])[0]?.ns ?? Number.NaN), "-", "-", "-"];
    const [own, nodeCron] = measure([ours, { name: "node-cron", run: repeat(theirs.next) }]);
    if (own === undefined || nodeCron === undefined) return [];
    const now = Date.now();
    const agrees = trigger.nextMs(now) === theirs.next() || trigger.nextMs(Date.now()) === theirs.next();
    theirs.stop();
    return [
      expression.cron,
      formatNs(own.ns),
      formatNs(nodeCron.ns),
      formatRatio(nodeCron.ns / own.ns),
      agrees ? "yes" : "no",
    ];
  });
  printTable(`Next from the present on, ${ZONE}`, ["Expression", "escapement", "node-cron", "ratio", "agree"], rows);
}

function timeBatches(): void {
  const rows: string[][] = [];
  const out = new Float64Array(INSTANTS);
  for (const [label, afters, zones] of [
    ["near now", near, [ZONE]],
    ["random instants", anywhere, ["UTC", ZONE]],
  ] as const) {
    for (const timeZone of zones) {
      // In turns, so that a moment in which others use the machine disturbs none of them much.
      const timings = measure(
        EXPRESSIONS.map(({ cron }) => {
          const compiled = compile(cron, timeZone);
          const batch = new CompiledBatch(new Array(INSTANTS).fill(compiled));
          return { name: cron, run: repeat(() => batch.nextMs(afters, out)[5] ?? 0), itemsPerRun: INSTANTS };
        }),
      );
      for (const { name, ns } of timings) {
        const row = `"${name}", ${label}, ${timeZone}`;
        rows.push([row, formatNs(ns)]);
        goals.push([
          `batch ${row}`,
          formatNs(ns),
          label === "near now" ? "10 ns" : timeZone === "UTC" ? "8 ns" : "20 ns",
        ]);
      }
    }
  }
  printTable("Batches of 1,024 instants, an item", ["Batch", "escapement"], rows);
}

function timeMixed(): void {
  const rows: string[][] = [];
  const zones = ["UTC", ZONE, "Europe/Berlin", "Asia/Tokyo", "Australia/Lord_Howe"];
  for (const count of [1000, 100_000]) {
    const triggers = mixedExpressions(count).map((cron, index) =>
      CronTrigger.fromCrontab(cron, { timeZone: zones[index % zones.length] }),
    );
    const batch = new CronBatch(triggers);
    const out = new Float64Array(count);
    const singly = (): number => {
      let sum = 0;
      for (const trigger of triggers) sum += trigger.nextMs(NOW) ?? 0;
      return sum;
    };
    const together = { name: "batch", run: repeat(() => batch.nextMs(NOW, out)[5] ?? 0), itemsPerRun: count };
    const alone = measure([together])[0]?.ns;
    // In turns with what asks one by one, which takes the caches.
    const timings = measure([together, { name: "singly", run: repeat(singly), itemsPerRun: count }]);
    const [inTurns, single] = timings.map(({ ns }) => ns);
    if (alone === undefined || inTurns === undefined || single === undefined) return;
    rows.push([count.toLocaleString("en"), formatNs(alone), formatNs(inTurns), formatNs(single)]);
    if (count !== 100_000) continue;
    goals.push(["100,000 mixed specs, batch", formatNs(alone), "12 ns"]);
    goals.push(["100,000 mixed specs, batch, caches taken by others", formatNs(inTurns), "12 ns"]);
  }
  printTable(
    "Mixed specs in five zones, one instant, a spec",
    ["Specs", "batch", "batch, caches taken by others", "singly"],
    rows,
  );
}

function timeExpand(): void {
  const from = Date.UTC(2026, 0, 1);
  const until = Date.UTC(2027, 0, 1) - 1;
  const rows: string[][] = [];
  for (const [cron, timeZone] of [
    ["* * * * *", "UTC"],
    ["* * * * *", ZONE],
    ["*/5 8-17 * * 1-5", ZONE],
    ["30 9 * * 1-5", ZONE],
  ] as const) {
    const compiled = compile(cron, timeZone);
    const fires = compiled.count(from, until);
    const out = new Float64Array(fires);
    const croner = PEERS[1]?.compile({ cron, rrule: "", isDense: true }, timeZone);
    let cronerMs = from;
    const cronerNext = (): number => {
      cronerMs = croner?.(cronerMs) ?? from;
      if (cronerMs > until) cronerMs = from;
      return cronerMs;
    };
    const timings = measure([
      { name: "expandInto", run: repeat(() => compiled.expandInto(out, from, until)), itemsPerRun: fires },
      { name: "expand", run: repeat(() => compiled.expand(from, until, fires).length), itemsPerRun: fires },
      { name: "count", run: repeat(() => compiled.count(from, until)) },
      ...(croner === undefined ? [] : [{ name: "croner", run: repeat(cronerNext) }]),
    ]);
    const [into, expand, count, other = Number.NaN] = timings.map(({ ns }) => ns);
    if (into === undefined || expand === undefined || count === undefined) return;
    rows.push([
      `${cron}, ${timeZone}`,
      fires.toLocaleString("en"),
      formatNs(into),
      formatNs(expand),
      formatNs(count),
      formatNs(other),
    ]);
    if (cron === "* * * * *") goals.push([`a year by the minute, ${timeZone}, a fire`, formatNs(into), "0.3 ns"]);
  }
  const header = ["A year of", "fires", "expandInto, a fire", "expand, a fire", "count, in all", "croner, a fire"];
  printTable("A year expanded", header, rows);
}

function compareParse(): void {
  const peers = PEERS.filter((peer) => peer.parse !== undefined);
  const rows = EXPRESSIONS.map(({ cron }) => {
    const contestants = peers.map(({ name, parse }) => ({ name, run: repeat(() => (parse?.(cron) === null ? 1 : 0)) }));
    // A trigger is uploaded when it is first asked; the goal is for both.
    const uploaded = { name: "uploaded", run: repeat(() => compile(cron, "UTC").address) };
    const timings = measure([uploaded, ...contestants]).map(({ ns }) => ns);
    goals.push([`parse and upload "${cron}"`, formatNs(timings[0] ?? Number.NaN), "200 ns"]);
    return [cron, ...timings.map(formatNs)];
  });
  const names = peers.map(({ name }) => (name === OURS.name ? "escapement, not asked" : name));
  printTable("Parse", ["Expression", "escapement, uploaded", ...names], rows);
}

// What the rows above consist of, each in a loop of its own.
function timeParts(): void {
  const rows = ["* * * * *", "7,22,41 * * * *", "*/15 9-17 * * 1-5", "0 12 29 2 *"].map((cron) => {
    const compiled = compile(cron, ZONE);
    const trigger = CronTrigger.fromCrontab(cron, { timeZone: ZONE });
    const { address, spec } = compiled;
    const { next } = kernel;
    const zoneAddress = zoneTable(ZONE).address;
    const works: ((count: number) => number)[] = [
      loopOver((afterMs) => next(address, afterMs), near),
      loopOver((afterMs) => compiled.nextMs(afterMs), near),
      loopOver((afterMs) => trigger.nextMs(afterMs), near),
      repeat(() => parseCrontab(cron, { timeZone: ZONE, dst: "auto", dayMatch: "or" }).hours),
      repeat(() => {
        const uploaded = upload(spec, zoneAddress, 0);
        kernel.free(uploaded);
        return uploaded;
      }),
      repeat(() => new CompiledCron(spec).address),
    ];
    return [cron, ...works.map((run) => formatNs(measure([{ name: cron, run }])[0]?.ns ?? Number.NaN))];
  });
  const header = [
    "Expression",
    "kernel.next",
    "compiled.nextMs",
    "trigger.nextMs",
    "parse",
    "upload and free",
    "compile",
  ];
  printTable(`Parts of a question and of a trigger, alone, near now, ${ZONE}`, header, rows);

  const compiled = compile("* * * * *", "UTC");
  const from = Date.UTC(2026, 0, 1);
  const until = Date.UTC(2027, 0, 1) - 1;
  const out = new Float64Array(compiled.count(from, until));
  const chunk = new Float64Array(4096);
  const copy = (): number => {
    for (let at = 0; at + chunk.length <= out.length; at += chunk.length) out.set(chunk, at);
    return out.length;
  };
  const cells = [repeat(() => compiled.expandInto(out, from, until)), repeat(copy)].map((run) =>
    formatNs(measure([{ name: "year", run, itemsPerRun: out.length }])[0]?.ns ?? Number.NaN),
  );
  printTable("A year by the minute, alone, a fire", ["expandInto", "copying alone, 4,096 at a time"], [cells]);
}

function compile(cron: string, timeZone: string): CompiledCron {
  const spec: CronSpec = parseCrontab(cron, { timeZone, dst: "auto", dayMatch: "or" });
  return new CompiledCron(spec);
}

function repeat(work: () => number): (count: number) => number {
  return loopOver(work, NOTHING);
}

function runtimeName(): string {
  const host: { Bun?: { version: string }; Deno?: { version: { deno: string } } } = globalThis as never;
  if (host.Bun !== undefined) return `Bun ${host.Bun.version}`;
  return host.Deno === undefined ? `Node ${process.version}` : `Deno ${host.Deno.version.deno}`;
}
