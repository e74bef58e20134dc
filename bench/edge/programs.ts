// What is measured, as texts: each runtime gets them in a form of its own.

/** Imports, and the body of an asynchronous function that returns what is to be compared. */
export interface Program {
  readonly imports: string;
  readonly body: string;
}

/** From here on fire times are asked for: a week that holds a clock change of Europe. */
const AFTER = "2030-03-28T12:00:00Z";
const CRONTAB = "0 9 * * 1-5";
const CRON_IMPORT = 'import { CronTrigger } from "escapement/cron";';
const CRONER_IMPORT = 'import { Cron } from "croner";';

/** Programs of a cold start, by the names of rows. Each returns its first fire time, where it has one. */
export const STARTS: Readonly<Record<string, Program>> = {
  empty: { imports: "", body: "" },
  "import escapement": { imports: 'import { Scheduler } from "escapement";', body: "return typeof Scheduler;" },
  "import escapement/cron": { imports: CRON_IMPORT, body: "return typeof CronTrigger;" },
  "import croner": { imports: CRONER_IMPORT, body: "return typeof Cron;" },
  "cron, UTC": escapementNext("UTC"),
  "croner, UTC": cronerNext("UTC"),
  "croner, no zone": cronerNext(),
  "cron, Berlin": escapementNext("Europe/Berlin"),
  "croner, Berlin": cronerNext("Europe/Berlin"),
  "add and tick, Berlin": {
    imports: 'import { Scheduler } from "escapement";',
    body: `
      const scheduler = new Scheduler({ timeZone: "Europe/Berlin" });
      const { id } = await scheduler.schedule("report", "${CRONTAB}", () => {});
      const { jobsRun } = await scheduler.tick();
      await scheduler.stop();
      return id + jobsRun;`,
  },
};

/** Both libraries' fire times, for a comparison: a list of times for each crontab and zone. */
export const FIRE_TIMES: Readonly<Record<"escapement" | "croner", Program>> = {
  escapement: fireTimes(
    CRON_IMPORT,
    "const trigger = CronTrigger.fromCrontab(crontab, { timeZone }); const next = (ms) => trigger.nextMs(ms);",
  ),
  croner: fireTimes(
    CRONER_IMPORT,
    "const cron = new Cron(crontab, { timezone: timeZone });" +
      "const next = (ms) => cron.nextRun(new Date(ms)).getTime();",
  ),
};

/** How often one answer repeats what is measured. */
const REPETITIONS = 50;

/**
 * Work against a libSQL server: a raw request, an idle tick of a scheduler that lives on, or an idle tick of a
 * scheduler that was made for it, as a Worker makes one per invocation. Returns how many times it was done.
 */
export const IDLE_WORK: Program = {
  imports: `
    import { Scheduler } from "escapement/scheduler";
    import { LibsqlDataStore } from "escapement/libsql/http";`,
  body: `
    const body = JSON.stringify({ requests: [{ type: "execute", stmt: { sql: "SELECT 1" } }, { type: "close" }] });
    const makeScheduler = () => {
      const scheduler = new Scheduler({ dataStore: new LibsqlDataStore({ url: address }) });
      scheduler.task("report", () => {});
      return scheduler;
    };
    if (work === "declare") {
      await makeScheduler().schedule("report", "0 0 1 1 *", () => {});
    } else if (work === "raw") {
      for (let count = 0; count < ${REPETITIONS}; count++) {
        await (await fetch(address + "/v3/pipeline", { method: "POST", body })).json();
      }
    } else {
      let scheduler = makeScheduler();
      for (let count = 0; count < ${REPETITIONS}; count++) {
        if (work === "fresh") scheduler = makeScheduler();
        const { jobsRun, schedulesProcessed } = await scheduler.tick();
        if (jobsRun + schedulesProcessed > 0) throw new Error("a tick was not idle");
      }
    }
    return ${REPETITIONS};`,
};

function escapementNext(zone: string): Program {
  return {
    imports: CRON_IMPORT,
    body: `return CronTrigger.fromCrontab("${CRONTAB}", { timeZone: "${zone}" }).next("${AFTER}").epochMilliseconds;`,
  };
}

/** Without a zone it takes that of the host, which is UTC here, and asks Intl for nothing. */
function cronerNext(zone?: string): Program {
  const options = zone === undefined ? "{}" : `{ timezone: "${zone}" }`;
  return {
    imports: CRONER_IMPORT,
    body: `return new Cron("${CRONTAB}", ${options}).nextRun(new Date("${AFTER}")).getTime();`,
  };
}

function fireTimes(imports: string, makeNext: string): Program {
  return {
    imports,
    body: `
      const all = {};
      for (const crontab of ["${CRONTAB}", "30 4 1,15 * *", "*/20 6-22 * * *", "0 12 29 2 *"]) {
        for (const timeZone of ["UTC", "Europe/Berlin"]) {
          ${makeNext}
          const times = [];
          for (let ms = Date.parse("${AFTER}"); times.length < 100; times.push(ms)) ms = next(ms);
          all[crontab + ", " + timeZone] = times;
        }
      }
      return all;`,
  };
}
