import type { RuleName } from "./rules.ts";

/** A file that breaks one rule, or none. */
export interface Fixture {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  readonly breaks?: RuleName;
}

export const VIOLATIONS: readonly (Fixture & { readonly breaks: RuleName })[] = [
  {
    name: "an import that goes up",
    path: "src/core/clock.ts",
    text: 'import { Trigger } from "../triggers/trigger.ts";',
    breaks: "upward",
  },
  {
    name: "a type import that goes up",
    path: "src/stores/sql/sql-and-json.ts",
    text: 'import type { Scheduler } from "../../scheduler/scheduler.ts";',
    breaks: "upward",
  },
  {
    name: "a re-export that goes up",
    path: "src/triggers/trigger.ts",
    text: 'export * from "../stores/memory/store.ts";',
    breaks: "upward",
  },
  {
    name: "a dynamic import that goes up",
    path: "src/records/job.ts",
    text: 'const later = () => import("../scheduler/scheduler.ts");',
    breaks: "upward",
  },
  {
    name: "a type expression that goes up",
    path: "src/records/job.ts",
    text: 'export type S = import("../scheduler/scheduler.ts").Scheduler;',
    breaks: "upward",
  },
  {
    name: "an import of the public entry from within",
    path: "src/hono/router.ts",
    text: 'import { Scheduler } from "../mod.ts";',
    breaks: "upward",
  },
  {
    name: "an import of another public entry from within",
    path: "src/triggers/cron.ts",
    text: 'import { Trigger } from "../cron.ts";',
    breaks: "upward",
  },
  {
    name: "a public entry that names a level above its own",
    path: "src/cron.ts",
    text: 'export { Scheduler } from "./scheduler/scheduler.ts";',
    breaks: "upward",
  },
  {
    name: "a public entry that names the outermost level",
    path: "src/mod.ts",
    text: 'export { createRouter } from "./hono/mod.ts";',
    breaks: "upward",
  },
  {
    name: "a door that shows more than its level",
    path: "src/cron.ts",
    text: 'export { Scheduler } from "./scheduler/scheduler.ts";',
    breaks: "upward",
  },
  {
    name: "an import of another door from within",
    path: "src/stores/libsql/store.ts",
    text: 'import type { DataStore } from "../../contracts.ts";',
    breaks: "upward",
  },
  {
    name: "a command that imports what is behind a door",
    path: "src/cli/commands/list.ts",
    text: 'import { Scheduler } from "../../scheduler/scheduler.ts";',
    breaks: "upward",
  },
  {
    name: "a door that shows whatever a file has",
    path: "src/mod.ts",
    text: 'export * from "./core/errors.ts";',
    breaks: "door",
  },
  {
    name: "a subpath's door that shows whatever a file has",
    path: "src/stores/libsql/mod.ts",
    text: 'export type * from "./options.ts";',
    breaks: "door",
  },
  {
    name: "an import of a higher room of the scheduler",
    path: "src/scheduler/running/job-runner.ts",
    text: 'import type { Engine } from "../driving/engine.ts";',
    breaks: "room",
  },
  {
    name: "an import of another room on the same floor",
    path: "src/scheduler/verbs/job-verbs.ts",
    text: 'import { cleanUp } from "../driving/clean-up.ts";',
    breaks: "room",
  },
  {
    name: "an import of the facade by a room below it",
    path: "src/scheduler/views/job.ts",
    text: 'import type { SchedulerClient } from "../scheduler-client.ts";',
    breaks: "room",
  },
  {
    name: "a dialect of SQL that imports another one",
    path: "src/stores/sql/postgres/jobs/results.ts",
    text: 'import { resultStatements } from "../../sqlite/jobs/results.ts";',
    breaks: "room",
  },
  {
    name: "what all dialects of SQL share, which imports one",
    path: "src/stores/sql/jobs/results.ts",
    text: 'import { resultStatements } from "../sqlite/jobs/results.ts";',
    breaks: "room",
  },
  {
    name: "a dialect of SQL that imports a driver of PostgreSQL",
    path: "src/stores/sql/sqlite/jobs/results.ts",
    text: 'import { literal } from "../../../postgres/driver/literals.ts";',
    breaks: "room",
  },
  {
    name: "a room without a floor",
    path: "src/scheduler/attic/box.ts",
    text: 'import { Job } from "../views/job.ts";',
    breaks: "room",
  },
  {
    name: "an executor of threads that knows the scheduler",
    path: "src/executors/remote/worker-pool.ts",
    text: 'import type { JobContext } from "../../scheduler/scheduler-client.ts";',
    breaks: "upward",
  },
  {
    name: "an executor that knows a store",
    path: "src/executors/worker/leases/lease-store.ts",
    text: 'import type { DataStore } from "../../../stores/data-store.ts";',
    breaks: "sideways",
  },
  {
    name: "an import across folders of one level",
    path: "src/stores/memory/store.ts",
    text: 'import { LocalEventBroker } from "../../brokers/local.ts";',
    breaks: "sideways",
  },
  {
    name: "a file in a folder without a level",
    path: "src/helpers/misc.ts",
    text: "export const nothing = 0;",
    breaks: "folder",
  },
  {
    name: "an import from outside src",
    path: "src/cron/compiled-cron.ts",
    text: 'import wasm from "../../wasm/dist/embedded.js";',
    breaks: "folder",
  },
  { name: "process", path: "src/scheduler/scheduler.ts", text: "const id = process.pid;", breaks: "host" },
  { name: "Deno", path: "src/stores/memory/store.ts", text: 'if (typeof Deno !== "undefined") {}', breaks: "host" },
  { name: "Bun", path: "src/core/ids.ts", text: "const hash = Bun.hash(1);", breaks: "host" },
  { name: "Buffer", path: "src/serializers/json.ts", text: "const bytes = Buffer.from(text);", breaks: "host" },
  { name: "a node: module", path: "src/stores/libsql/mod.ts", text: 'import fs from "node:fs";', breaks: "host" },
  { name: "a bare built-in module", path: "src/stores/libsql/mod.ts", text: 'import "fs/promises";', breaks: "host" },
  { name: "globalThis.process", path: "src/core/ids.ts", text: "const e = globalThis.process?.env;", breaks: "host" },
  {
    name: "a cast globalThis",
    path: "src/core/ids.ts",
    text: "const e = (globalThis as { process?: { pid: number } }).process;",
    breaks: "host",
  },
  { name: "a host check", path: "src/core/ids.ts", text: 'const isDeno = "Deno" in globalThis;', breaks: "host" },
  {
    name: "a host global inside a template's substitution",
    path: "src/core/ids.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the fixture is source text
    text: "const id = `host-${`${process.pid}`}`;",
    breaks: "host",
  },
  { name: "Date.now", path: "src/stores/memory/store.ts", text: "const now = Date.now();", breaks: "time" },
  { name: "new Date()", path: "src/stores/memory/store.ts", text: "const now = new Date();", breaks: "time" },
  { name: "setTimeout", path: "src/brokers/local.ts", text: "setTimeout(wake, 5);", breaks: "time" },
  {
    name: "a named setTimeout",
    path: "src/brokers/local.ts",
    text: "const t = globalThis.setTimeout;",
    breaks: "time",
  },
  { name: "setInterval", path: "src/scheduler/driving/clean-up.ts", text: "setInterval(sweep, 5);", breaks: "time" },
  { name: "setImmediate", path: "src/scheduler/driving/clean-up.ts", text: "setImmediate(sweep);", breaks: "time" },
  { name: "Math.random", path: "src/scheduler/scheduler.ts", text: "const r = Math.random;", breaks: "time" },
  { name: "Temporal.Now", path: "src/triggers/cron.ts", text: "const n = Temporal.Now.instant();", breaks: "time" },
  { name: "performance.now", path: "src/executors/inline.ts", text: "const n = performance.now();", breaks: "time" },
  { name: "crypto.randomUUID", path: "src/records/job.ts", text: "const id = crypto.randomUUID();", breaks: "time" },
  {
    name: "AbortSignal.timeout",
    path: "src/scheduler/running/job-runner.ts",
    text: "const s = AbortSignal.timeout(5);",
    breaks: "time",
  },
  {
    name: "temporal-polyfill outside core/temporal.ts",
    path: "src/core/duration.ts",
    text: 'import { Temporal } from "temporal-polyfill";',
    breaks: "package",
  },
  {
    name: "a driver outside its store",
    path: "src/stores/memory/store.ts",
    text: 'import { createClient } from "@libsql/client/web";',
    breaks: "package",
  },
  { name: "an unknown package", path: "src/core/ids.ts", text: 'import _ from "lodash";', breaks: "package" },
];

/** Files that import each other, or do not. */
export const CIRCLES: readonly {
  readonly name: string;
  readonly files: readonly (readonly [path: string, text: string])[];
  readonly circles: readonly (readonly string[])[];
}[] = [
  {
    name: "two files that import each other",
    files: [
      ["src/a.ts", 'import { b } from "./b.ts";'],
      ["src/b.ts", 'export { a } from "./a.ts";'],
      ["src/c.ts", 'import { a } from "./a.ts";'],
    ],
    circles: [["src/a.ts", "src/b.ts"]],
  },
  {
    name: "a circle of types over three files",
    files: [
      ["src/a.ts", 'import type { B } from "./b.ts";'],
      ["src/b.ts", 'export type C = import("./c/c.ts").C;'],
      ["src/c/c.ts", 'import type { A } from "../a.ts";'],
    ],
    circles: [["src/a.ts", "src/b.ts", "src/c/c.ts"]],
  },
  {
    name: "imports without an ending, as AssemblyScript writes them",
    files: [
      ["wasm/assembly/a.ts", 'import { b } from "./b";'],
      ["wasm/assembly/b.ts", 'import { a } from "./a";'],
    ],
    circles: [["wasm/assembly/a.ts", "wasm/assembly/b.ts"]],
  },
  {
    name: "no circle where two files import a third",
    files: [
      ["src/a.ts", 'import "./b.ts";\nimport "./c.ts";'],
      ["src/b.ts", 'import "./c.ts";'],
      ["src/c.ts", 'import "valibot";'],
    ],
    circles: [],
  },
];

export const ACCEPTED: readonly Fixture[] = [
  {
    name: "imports of lower levels and of the own folder",
    path: "src/stores/libsql/mod.ts",
    text: 'import { a } from "../../core/clock.ts";\nimport { b } from "./rows.ts";\nexport { c } from "../data-store.ts";',
  },
  {
    name: "a public entry that names every level below the outermost",
    path: "src/mod.ts",
    text: 'export { Scheduler } from "./scheduler/scheduler.ts";\nexport type { Issue } from "./core/errors.ts";',
  },
  {
    name: "a command that imports a door and the core",
    path: "src/cli/commands/list.ts",
    text: 'import { Scheduler } from "../../mod.ts";\nimport { oneLine } from "../../core/text.ts";',
  },
  {
    name: "imports of lower rooms and of the own room",
    path: "src/scheduler/driving/engine.ts",
    text: 'import { a } from "../running/job-runner.ts";\nimport { b } from "./tick.ts";\nimport { c } from "../environment.ts";',
  },
  {
    name: "forbidden names in comments, strings, regular expressions and templates",
    path: "src/stores/memory/store.ts",
    text: [
      '// process.exit(), Date.now() and import x from "../scheduler/scheduler.ts"',
      "/* setTimeout(Deno) */",
      'const text = "process.pid, \\" Math.random()" + \'Bun\';',
      "const pattern = /[/`\"'] process.pid Date.now()/g;",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the fixture is source text
      "const shown = `process.pid ${{ a: `Deno ${text}` }.a} Date.now()`;",
    ].join("\n"),
  },
  {
    name: "members and methods that share a host's name",
    path: "src/scheduler/firing/schedule-processor.ts",
    text: "class P { async process(row: Row) { await this.process(row); }\n readonly clock: { process: number } }",
  },
  { name: "host globals in the outermost level", path: "src/cli/main.ts", text: "process.exit(Deno.args.length);" },
  {
    name: "node: modules in a runtime's own executor",
    path: "src/executors/process.ts",
    text: 'import { fork } from "node:child_process";',
  },
  {
    name: "a real timeout of a store's connection",
    path: "src/stores/libsql/client.ts",
    text: "await fetch(url, { signal: AbortSignal.timeout(5) });",
  },
  { name: "time in core", path: "src/core/clock.ts", text: "setTimeout(f, Date.now() + Math.random());" },
  {
    name: "a Date of a given instant",
    path: "src/triggers/date.ts",
    text: "const d = new Date(ms); Date.UTC(2024, 1);",
  },
  {
    name: "Array.from and other calls that are named from",
    path: "src/core/ids.ts",
    text: 'const a = Array.from("../scheduler/x.ts");',
  },
];
