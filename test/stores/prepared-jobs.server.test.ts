import { afterAll, beforeAll, describe, test } from "vitest";
import { Sqld } from "../support/sqld.ts";
import { LIBSQL_APPLICATIONS, withApplication } from "./application.ts";
import { PREPARED_JOB_CASES } from "./prepared-jobs.ts";
import { PREPARED_STEP_CASES } from "./prepared-steps.ts";

let server: Sqld;
beforeAll(async () => {
  server = await Sqld.start();
});
afterAll(() => server?.stop());

const TABLES = ["tasks", "jobs", "results", "commits", "windows", "job_steps"].map((table) => `escapement_${table}`);
const EMPTY = ["orders", ...TABLES].map((table) => ({ sql: `DELETE FROM ${table}`, args: [] }));

for (const protocol of ["httpUrl", "wsUrl"] as const) {
  for (const kind of LIBSQL_APPLICATIONS) {
    describe(`prepared jobs and steps on sqld (${protocol}), by ${kind.name}`, () => {
      for (const { name, run } of PREPARED_JOB_CASES) {
        test(name, () =>
          withApplication(kind, server[protocol], async (application, scheduler) => {
            await scheduler.getTasks();
            await application.commit(EMPTY);
            await run(application, scheduler);
          }),
        );
      }
      // The statements of a step are carried as those of a job are.
      for (const { name, run } of protocol === "httpUrl" ? PREPARED_STEP_CASES : []) {
        test(`of a step: ${name}`, () =>
          withApplication(kind, server[protocol], async (application, scheduler, store) => {
            await scheduler.getTasks();
            await application.commit(EMPTY);
            await run(application, store);
          }));
      }
    });
  }
}
