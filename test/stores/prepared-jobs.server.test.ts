import { afterAll, beforeAll, describe, test } from "vitest";
import { Sqld } from "../support/sqld.ts";
import { LIBSQL_APPLICATIONS, withApplication } from "./application.ts";
import { PREPARED_JOB_CASES } from "./prepared-jobs.ts";

let server: Sqld;
beforeAll(async () => {
  server = await Sqld.start();
});
afterAll(() => server?.stop());

for (const protocol of ["httpUrl", "wsUrl"] as const) {
  for (const kind of LIBSQL_APPLICATIONS) {
    describe(`prepared jobs on sqld (${protocol}), by ${kind.name}`, () => {
      for (const { name, run } of PREPARED_JOB_CASES) {
        test(name, () =>
          withApplication(kind, server[protocol], async (application, scheduler) => {
            await scheduler.getTasks();
            const tables = ["tasks", "jobs", "results", "steps", "windows"].map((table) => `escapement_${table}`);
            await application.commit(["orders", ...tables].map((table) => ({ sql: `DELETE FROM ${table}`, args: [] })));
            await run(application, scheduler);
          }),
        );
      }
    });
  }
}
