// Lets schedules fire in a Durable Object, in workerd, through aborts, restarts, failed ticks, and alarms lost and
// repeated, and prints what became of them:
//
//   node scripts/object-storm.mjs [--schedules 1000] [--seconds 30]
import process from "node:process";
import { parseArgs } from "node:util";
import { bundleImport } from "./lib/bundle-import.mjs";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "1000" },
    seconds: { type: "string", default: "30" },
  },
});
const { runStorm } = await bundleImport("test/cloudflare/durable-object/storm.ts");
const schedules = Number(values.schedules);
const report = await runStorm({ schedules, spanMs: Number(values.seconds) * 1000 });
console.log(JSON.stringify(report, null, 2));
const { counts, doubled, alarm } = report;
const isRight = counts.successes === schedules && counts.results === schedules && counts.schedules === schedules;
process.exitCode = isRight && counts.unfinished === 0 && doubled.length === 0 && alarm === null ? 0 : 1;
