// What does importing the package cost a fresh process?
// node bench/start-cpu.mjs [--checkout DIR ...] [--runtime node,deno,bun] [--rounds 15]
// DIR are checkouts built by `npm run build`; by default this one. Several are measured in the same rounds. croner, which
// `npm ci` in this folder installs, is measured beside them.
import { existsSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { RUNTIMES, startCpu } from "./edge/start-cpu.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const { values: options } = parseArgs({
  options: {
    checkout: { type: "string", multiple: true, default: [resolve(here, "..")] },
    runtime: { type: "string", default: Object.keys(RUNTIMES).join(",") },
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
}
const croner = `${here}node_modules/croner`;
if (existsSync(croner)) {
  packages.croner = croner;
  programs["import croner"] = 'import "croner";';
  for (const zone of ["UTC", "Europe/Berlin"]) programs[`croner in ${zone}`] = nextOfCroner(zone);
} else console.log("croner is not installed: run npm ci in bench/ to compare with it");

for (const runtime of options.runtime.split(",")) {
  const results = startCpu({ runtime, rounds: Number(options.rounds), packages, programs });
  console.log(`\n${runtime}: ms of CPU, medians of ${options.rounds}, and the least\n`);
  const width = Math.max(...Object.keys(results).map(({ length }) => length));
  for (const [name, { medianMs, leastMs, overEmptyMs }] of Object.entries(results)) {
    const over = name === "empty" ? "" : `${overEmptyMs.toFixed(1).padStart(7)} over an empty module`;
    console.log(`${name.padEnd(width)} ${medianMs.toFixed(1).padStart(7)} ${leastMs.toFixed(1).padStart(7)} ${over}`);
  }
}
console.log(`\nNode ${process.version}, ${cpus()[0]?.model}, load ${loadavg()[0].toFixed(1)}`);

function nextOfEscapement(name, zone) {
  return `import { CronTrigger } from "${name}/cron";
CronTrigger.fromCrontab("0 9 * * 1-5", { timeZone: "${zone}" }).next()?.epochMilliseconds;`;
}

function nextOfCroner(zone) {
  return `import { Cron } from "croner";
new Cron("0 9 * * 1-5", { timezone: "${zone}" }).nextRun()?.getTime();`;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
