// Runs the chaos suite for as long as wanted and prints what it found:
//
//   node scripts/chaos.mjs [--form file|sqlite-file|sqld|postgres] [--minutes 60] [--processes 3] [--seed N]
//     [--broker redis|mqtt|postgres]
// A file is libSQL's, or that of the SQLite that this Node brings along. PostgreSQL has a standby, which takes over.
//
//   node scripts/chaos.mjs --killed-job [--steps 50] [--positions 1000]
// Kills one job with steps and a cursor at every point of its way, in a process for each: 2,400 of them.
import process from "node:process";
import { parseArgs } from "node:util";
import { bundleImport } from "./lib/bundle-import.mjs";

const { values } = parseArgs({
  options: {
    form: { type: "string", default: "file" },
    minutes: { type: "string", default: "60" },
    processes: { type: "string", default: "3" },
    broker: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    "killed-job": { type: "boolean", default: false },
    steps: { type: "string", default: "50" },
    positions: { type: "string", default: "1000" },
    quiet: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const { BrokerServer, killJob, PostgresPair, runChaos, Sqld, sqldOf, whyNoSqlite } =
  await bundleImport("test/chaos/mod.ts");
if (values["killed-job"]) {
  const found = await killJob({
    ...{ steps: Number(values.steps), positions: Number(values.positions), points: "all" },
    log: values.quiet ? undefined : (line) => console.log(`${new Date().toISOString()} ${line}`),
  });
  console.log(JSON.stringify({ ...found, violations: found.violations.slice(0, 50) }, null, 2));
  process.exit(found.violations.length === 0 ? 0 : 1);
}
if (!["file", "sqlite-file", "sqld", "postgres"].includes(values.form))
  throw new Error(`there is no form "${values.form}"`);
if (values.form === "sqlite-file" && whyNoSqlite !== null) throw new Error(whyNoSqlite);
if (values.broker !== undefined && !["redis", "mqtt", "postgres"].includes(values.broker)) {
  throw new Error(`there is no broker "${values.broker}"`);
}
const sqld = values.form === "sqld" ? await Sqld.start() : null;
const pair = values.form === "postgres" ? await PostgresPair.start() : null;
const broker = values.broker === undefined ? null : await BrokerServer.start(values.broker);
console.log(
  `chaos on ${values.form} with broker ${values.broker ?? "none"}, ${values.minutes} minutes, ${values.processes} processes, seed ${seed}`,
);
const report = await runChaos({
  store: values.form === "sqlite-file" ? "sqlite" : pair !== null ? "postgres" : "libsql",
  server: sqld === null ? pair : sqldOf(sqld),
  broker,
  seconds: Number(values.minutes) * 60,
  processes: Number(values.processes),
  seed,
  log: values.quiet ? undefined : (line) => console.log(`${new Date().toISOString()} ${line}`),
});
await sqld?.stop();
await pair?.stop();
await broker?.stop();
console.log(JSON.stringify({ ...report, violations: report.violations.slice(0, 50) }, null, 2));
console.log(`${report.violations.length} violations`);
process.exitCode = report.violations.length === 0 ? 0 : 1;
