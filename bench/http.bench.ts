// What does the router cost over HTTP, beside routes of plain Hono that answer the same bytes, and beside bull-board?
// Requests a second and CPU of the server for lists, an overview, a preview and a new job; events a second for 200
// streams; and the CPU of the JSON of a page. Method and last results: README.md.
// Run by run.mjs: node bench/run.mjs http [json] [requests] [streams]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, runChild, type ServerKind, startChild } from "./http/child.ts";
import { measureJson } from "./http/json.ts";
import { measureRow, type RowFigures, record, requireSamePayloads, requireSameText } from "./http/requests.ts";
import { ROWS } from "./http/rows.ts";
import { type Burst, CLIENTS, measureStreams, type StreamFigures } from "./http/streams.ts";
import { load, machine } from "./lib/machine.ts";
import { formatRatio, printTable } from "./lib/table.ts";
import { versionOf } from "./lib/version-of.ts";
import { median } from "./store/median.ts";
import { type RunningServer, startServers } from "./store/servers.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const NAMES: Readonly<Record<ServerKind, string>> = {
  raw: "plain Hono",
  memory: "Escapement memory",
  file: "Escapement file NORMAL",
  "bull-board": "bull-board",
};
const BURSTS: readonly Burst[] = [
  { title: "one at a time", size: 1, times: 500 },
  { title: "50 at a time", size: 50, times: 40 },
];

if (process.argv[2] === "serve") runChild();
else await main(process.argv.slice(2));

async function main(chosen: readonly string[]): Promise<void> {
  const has = (part: string): boolean => chosen.length === 0 || chosen.includes(part);
  console.log(machine());
  if (has("json")) {
    const rows = (await measureJson()).map(([name, ms]) => [name, ms.toPrecision(3)]);
    printTable("CPU of the JSON of a page of 100 schedules", ["", "ms"], rows);
  }
  const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
  try {
    if (has("requests")) await compareRequests(folder);
    if (has("streams")) await compareStreams();
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  console.log(`\nLoad at the end: ${load()}`);
}

async function compareRequests(folder: string): Promise<void> {
  const bullBoards = [{ name: NAMES["bull-board"], server: "redis" as const }];
  const servers = await startServers(bullBoards, folder, (name, reason) =>
    console.log(`\n${name}: left out, ${reason}`),
  );
  const redis = servers.get("redis");
  const measured = new Map<string, RowFigures[]>();
  try {
    for (let round = 1; round <= ROUNDS; round++) {
      await runRound(folder, redis, measured);
      console.log(`round ${round} of ${ROUNDS} is done, load ${load()}`);
    }
  } finally {
    await redis?.stop();
  }
  reportRequests(measured);
  if (redis !== undefined) {
    const versions = ["@bull-board/hono", "bullmq"].map((name) => `${name} ${versionOf(name)}`);
    console.log(`\n- bull-board: ${versions.join(", ")} on ${redis.description}`);
  }
  console.log("- pg-boss: left out, because it has no routes of its own; its dashboard answers pages of HTML");
}

/** Each contestant once. Plain Hono answers what Escapement has answered in this round. */
async function runRound(
  folder: string,
  redis: RunningServer | undefined,
  measured: Map<string, RowFigures[]>,
): Promise<void> {
  const run = async (kind: ServerKind, child: Child): Promise<void> => {
    for (const row of ROWS) {
      const figures = await measureRow(child, kind, row);
      if (figures === null) continue;
      const key = `${kind}: ${row.title}`;
      measured.set(key, [...(measured.get(key) ?? []), figures]);
    }
    await child.stop();
  };
  const memory = await startChild("memory");
  const answers = await record(memory);
  await run("memory", memory);
  await run("file", await startChild("file", folder));
  const raw = await startChild("raw", "", answers);
  await requireSameText(raw, answers);
  await run("raw", raw);
  if (redis === undefined) return;
  const board = await startChild("bull-board", redis.address);
  await requireSamePayloads(board, answers);
  await run("bull-board", board);
}

function reportRequests(measured: ReadonlyMap<string, RowFigures[]>): void {
  const kinds = (Object.keys(NAMES) as ServerKind[]).filter((kind) =>
    ROWS.some(({ title }) => measured.has(`${kind}: ${title}`)),
  );
  const figureOf = (kind: ServerKind, title: string, key: keyof RowFigures): number =>
    median((measured.get(`${kind}: ${title}`) ?? []).map((figures) => figures[key]));
  const shown = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(0));
  // How many times as slow, or as much.
  const ratioOf = (kind: ServerKind, title: string, key: keyof RowFigures): number => {
    const ratio = figureOf(kind, title, key) / figureOf("raw", title, key);
    return key === "perSecond" ? 1 / ratio : ratio;
  };
  const table = (title: string, key: keyof RowFigures, word: string): void => {
    const compared = kinds.filter((kind) => kind !== "raw");
    const header = ["", ...kinds.map((kind) => NAMES[kind]), ...compared.map((kind) => `${NAMES[kind]}: ${word}`)];
    const rows = ROWS.map(({ title: row }) => [
      row,
      ...kinds.map((kind) => shown(figureOf(kind, row, key))),
      ...compared.map((kind) => formatRatio(ratioOf(kind, row, key))),
    ]);
    printTable(title, header, rows);
  };
  table(`Requests a second, 10 connections, medians of ${ROUNDS} rounds`, "perSecond", "slower");
  table("CPU of the server, us a request", "cpuUs", "more");
}

async function compareStreams(): Promise<void> {
  const kinds = ["raw", "memory"] as const;
  const measured = new Map<string, StreamFigures[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const burst of BURSTS) {
      const texts: string[] = [];
      for (const kind of kinds) {
        const child = await startChild(kind);
        const key = `${kind}: ${burst.title}`;
        const figures = await measureStreams(child, burst, (text) => texts.push(text));
        measured.set(key, [...(measured.get(key) ?? []), figures]);
        await child.stop();
      }
      if (new Set(texts).size > 1) throw new Error(`the streams differ: ${differenceOf(texts)}`);
    }
  }
  const figureOf = (kind: ServerKind, title: string, key: keyof StreamFigures): number =>
    median((measured.get(`${kind}: ${title}`) ?? []).map((figures) => figures[key]));
  const rows = BURSTS.flatMap(({ title }) =>
    (["perSecond", "cpuUs"] as const).map((key) => [
      `${title}, ${key === "perSecond" ? "events/s delivered" : "us of CPU an event delivered"}`,
      ...kinds.map((kind) => figureOf(kind, title, key).toPrecision(key === "cpuUs" ? 3 : 6)),
      formatRatio(figureOf("memory", title, key) / figureOf("raw", title, key)),
    ]),
  );
  printTable(
    `Streams of events, ${CLIENTS} clients, medians of ${ROUNDS} rounds`,
    ["", NAMES.raw, "Escapement", "ratio"],
    rows,
  );
}

/** Where two texts part. */
function differenceOf([one = "", other = ""]: readonly string[]): string {
  const index = [...one].findIndex((character, place) => character !== other[place]);
  const from = Math.max(index < 0 ? one.length : index, 100) - 100;
  return JSON.stringify([one.slice(from, from + 300), other.slice(from, from + 300)]);
}
