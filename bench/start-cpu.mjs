// What does starting cost: importing the package, a first fire time, a first job?
// node bench/start-cpu.mjs [--checkout DIR ...] [--runtime node,deno,bun,workerd] [--rounds 15]
// DIR are checkouts built by `npm run build`; by default this one. Several are measured in the same rounds. Peers that
// `npm ci` in this folder installs are measured beside them. Node is the one that runs this file.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { RUNTIMES, startCpu } from "./edge/start-cpu.mjs";

const PEERS = ["croner", "node-cron", "pg-boss", "bullmq"];

const here = fileURLToPath(new URL(".", import.meta.url));
const { values: options } = parseArgs({
  options: {
    checkout: { type: "string", multiple: true, default: [resolve(here, "..")] },
    runtime: { type: "string", default: [...Object.keys(RUNTIMES), "workerd"].join(",") },
    rounds: { type: "string", default: "15" },
  },
});

const packages = {};
const programs = {};
for (const [index, checkout] of options.checkout.entries()) {
  const name = `escapement${options.checkout.length > 1 ? `-${index + 1}` : ""}`;
  if (!existsSync(`${checkout}/dist/mod.js`)) fail(`${checkout} has no dist/mod.js: run npm run build there`);
  if (options.checkout.length > 1) console.log(`${name} is ${checkout}`);
  packages[name] = resolve(checkout);
  for (const door of ["", "/cron"]) programs[`import ${name}${door}`] = `import "${name}${door}";`;
  for (const zone of ["UTC", "Europe/Berlin"]) programs[`${name} in ${zone}`] = nextOfEscapement(name, zone);
  programs[`${name}, a first job in memory`] = firstJob(name);
  programs[`${name} next, the command`] = nextOfCommand(resolve(checkout));
}
for (const peer of PEERS) {
  const folder = `${here}node_modules/${peer}`;
  if (existsSync(folder)) {
    packages[peer] = folder;
    programs[`import ${peer}`] = `import "${peer}";`;
  } else console.log(`${peer} is not installed: run npm ci in bench/ to compare with it`);
}
if ("croner" in packages) {
  for (const zone of ["UTC", "Europe/Berlin"]) programs[`croner in ${zone}`] = nextOfCroner(zone);
}

for (const runtime of options.runtime.split(",")) {
  if (runtime === "workerd") startInWorkerd();
  else if (!(runtime in RUNTIMES)) fail(`--runtime is a list of ${Object.keys(RUNTIMES).join(", ")} and workerd`);
  else if (!existsSync(RUNTIMES[runtime][0])) console.log(`\n${runtime} is not installed: ${RUNTIMES[runtime][0]}`);
  else printStarts(runtime);
}
console.log(`\nNode ${process.version}, ${cpus()[0]?.model}, load ${loadavg()[0].toFixed(1)}`);

function printStarts(runtime) {
  const onFailure = (name, { message }) =>
    console.log(`\n${name} does not run on ${runtime}: ${message.split("\n").slice(0, 3).join(" ")}`);
  const results = startCpu({ runtime, rounds: Number(options.rounds), packages, programs, onFailure });
  const first = Object.keys(programs)[0];
  console.log(`\n${runtime}: ms of CPU, medians of ${options.rounds}; the least; over an empty program; of ${first}\n`);
  const width = Math.max(...Object.keys(results).map(({ length }) => length));
  for (const [name, { medianMs, leastMs, overEmptyMs }] of Object.entries(results)) {
    const ratio = overEmptyMs / (results[first]?.overEmptyMs ?? Number.NaN);
    const over = name === "empty" ? "" : `${overEmptyMs.toFixed(1).padStart(7)} ${ratio.toFixed(2).padStart(6)}`;
    console.log(`${name.padEnd(width)} ${medianMs.toFixed(1).padStart(7)} ${leastMs.toFixed(1).padStart(7)} ${over}`);
  }
}

/** From the start of a workerd that has one Worker alone to its first answer; of this checkout and croner. */
function startInWorkerd() {
  console.log("\nworkerd, in which node-cron, pg-boss and BullMQ do not run:\n");
  const env = { ...process.env, ROUNDS: options.rounds };
  const { status } = spawnSync(process.execPath, [`${here}run.mjs`, "edge", "start", "workerd"], {
    stdio: "inherit",
    env,
  });
  if (status !== 0) console.log(`the bench in workerd ended with ${status}`);
}

function nextOfEscapement(name, zone) {
  return `import { CronTrigger } from "${name}/cron";
CronTrigger.fromCrontab("0 9 * * 1-5", { timeZone: "${zone}" }).nextMs(Date.now());`;
}

/** What `npx escapement next` costs, without npx. */
function nextOfCommand(checkout) {
  const words = ["escapement", "next", "0 9 * * 1-5", "--tz", "Europe/Berlin", "--json"];
  return `const { exit } = process;
process.argv.splice(1, Infinity, ...${JSON.stringify(words)});
process.exit = () => {};
await import(${JSON.stringify(`${checkout}/dist/cli/bin.js`)});
process.exit = exit;`;
}

function nextOfCroner(zone) {
  return `import { Cron } from "croner";
new Cron("0 9 * * 1-5", { timezone: "${zone}" }).nextRun()?.getTime();`;
}

function firstJob(name) {
  return `import { Scheduler } from "${name}";
const scheduler = new Scheduler({ logLevel: "error" });
await scheduler.start();
await new Promise((resolve) => scheduler.addJob(scheduler.task("first", () => resolve())));`;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
