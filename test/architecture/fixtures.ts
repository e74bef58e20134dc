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
    path: "src/stores/sqlite/rows.ts",
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
    path: "src/http/router.ts",
    text: 'import { Scheduler } from "../mod.ts";',
    breaks: "upward",
  },
  {
    name: "a public entry that names the outermost level",
    path: "src/mod.ts",
    text: 'export { createRouter } from "./http/mod.ts";',
    breaks: "upward",
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
    path: "src/cron/engine.ts",
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
  { name: "setTimeout", path: "src/scheduler/wakeup.ts", text: "setTimeout(wake, 5);", breaks: "time" },
  {
    name: "a named setTimeout",
    path: "src/scheduler/wakeup.ts",
    text: "const t = globalThis.setTimeout;",
    breaks: "time",
  },
  { name: "setInterval", path: "src/scheduler/janitor.ts", text: "setInterval(sweep, 5);", breaks: "time" },
  { name: "setImmediate", path: "src/scheduler/janitor.ts", text: "setImmediate(sweep);", breaks: "time" },
  { name: "Math.random", path: "src/scheduler/scheduler.ts", text: "const r = Math.random;", breaks: "time" },
  { name: "Temporal.Now", path: "src/triggers/cron.ts", text: "const n = Temporal.Now.instant();", breaks: "time" },
  { name: "performance.now", path: "src/executors/inline.ts", text: "const n = performance.now();", breaks: "time" },
  { name: "crypto.randomUUID", path: "src/records/job.ts", text: "const id = crypto.randomUUID();", breaks: "time" },
  {
    name: "AbortSignal.timeout",
    path: "src/scheduler/job-runner.ts",
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

export const ACCEPTED: readonly Fixture[] = [
  {
    name: "imports of lower levels and of the own folder",
    path: "src/stores/libsql/mod.ts",
    text: 'import { a } from "../../core/clock.ts";\nimport { b } from "./rows.ts";\nexport * from "../data-store.ts";',
  },
  {
    name: "a public entry that names every level below the outermost",
    path: "src/mod.ts",
    text: 'export * from "./scheduler/scheduler.ts";\nexport * from "./core/errors.ts";',
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
    path: "src/scheduler/schedule-processor.ts",
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
