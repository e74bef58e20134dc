// How long does it take to find the next fire time of a cron expression, alone and in a batch? node cron.mjs CHECKOUT
import { open } from "./library.mjs";
import { answer, takeTurn } from "./program.mjs";

const [checkout] = process.argv.slice(2);
const EXPRESSIONS = [
  ["* * * * *", "UTC"],
  ["* * * * *", "America/New_York"],
  ["7,22,41 * * * *", "America/New_York"],
  ["*/15 9-17 * * 1-5", "America/New_York"],
  ["0 12 29 2 *", "America/New_York"],
];
const ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Sydney"];
const BATCH = 1000;
const NOW = Date.UTC(2026, 5, 15, 12);
const INSTANTS = 1024;
const WARM_UP_ROUNDS = 2;
const ROUNDS = 9;
const QUESTIONS_A_ROUND = 400_000;

const { CronTrigger, CronBatch } = await open(checkout, "./cron");
const near = instantsOfADay();
const triggers = EXPRESSIONS.map(([cron, timeZone]) => CronTrigger.fromCrontab(cron, { timeZone }));
const batch = new CronBatch(Array.from({ length: BATCH }, (_, index) => mixed(index)));
const out = new Float64Array(BATCH);

const values = [];
for (const [index, [cron, timeZone]] of EXPRESSIONS.entries()) {
  const trigger = triggers[index];
  const value = await nsEach(
    loopOver((afterMs) => trigger.nextMs(afterMs)),
    1,
  );
  values.push({ name: `nextMs "${cron}" near now, ${timeZone}`, unit: "ns CPU", value });
}
const value = await nsEach(
  loopOver((afterMs) => batch.nextMs(afterMs, out)[BATCH - 1]),
  BATCH,
);
values.push({ name: "batch of 1,000 mixed expressions, an item", unit: "ns CPU", value });

answer({ sums: triggers.map(sumOfAnswers), batch: batch.nextMs(NOW).reduce((sum, ms) => sum + ms - NOW, 0) }, values);

/** The same in every run, on one day (Lehmer's generator). */
function instantsOfADay() {
  let state = 7;
  return Float64Array.from({ length: INSTANTS }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.floor(NOW + (state / 2_147_483_647) * 86_400_000);
  });
}

function mixed(index) {
  const kinds = [
    `*/${1 + (index % 30)} * * * *`,
    `${index % 60} ${index % 24} * * *`,
    `${index % 60} ${index % 24} * * 1-5`,
    `0 ${index % 24} ${1 + (index % 28)} ${1 + (index % 12)} *`,
    `${index % 60},${(index * 7) % 60} */${1 + (index % 6)} * * *`,
  ];
  return CronTrigger.fromCrontab(kinds[index % kinds.length], { timeZone: ZONES[(index >> 3) % ZONES.length] });
}

/** A loop of its own for each: were all called from one, its call would be megamorphic. */
function loopOver(work) {
  const source = `let sum = 0;
    for (let index = 0; index < count; index++) sum += work(inputs[index & ${INSTANTS - 1}]);
    return sum;`;
  const loop = new Function("work", "inputs", "count", source);
  return (count) => loop(work, near, count);
}

/** The least of some rounds, because whatever else the machine does only adds. */
async function nsEach(run, answersACall) {
  const calls = QUESTIONS_A_ROUND / answersACall;
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    await takeTurn();
    const ns = cpuNs(() => run(calls)) / QUESTIONS_A_ROUND;
    if (round >= WARM_UP_ROUNDS) least = Math.min(least, ns);
  }
  return least;
}

function cpuNs(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) * 1000;
}

function sumOfAnswers(trigger) {
  return near.reduce((sum, afterMs) => sum + trigger.nextMs(afterMs) - afterMs, 0);
}
