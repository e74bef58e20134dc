// Batches of one cron expression, over and over: what instructions.mjs counts. Arguments: expression, time zone, near
// or random, rounds.
import { CompiledBatch, CompiledCron } from "../src/cron/compiled-cron.ts";
import { parseCrontab } from "../src/cron/parse.ts";
import { INSTANTS, instantsNear, instantsOfACentury } from "./lib/instants.ts";

const [cron = "* * * * *", timeZone = "UTC", where = "near", rounds = "1"] = process.argv.slice(2);
const compiled = new CompiledCron(parseCrontab(cron, { timeZone, dst: "auto", dayMatch: "or" }));
const batch = new CompiledBatch(new Array(INSTANTS).fill(compiled));
const afters = where === "near" ? instantsNear() : instantsOfACentury();
const out = new Float64Array(INSTANTS);
let sum = 0;
for (let round = 0; round < Number(rounds); round++) sum += batch.nextMs(afters, out)[5] ?? 0;
console.log(sum);
