import pg from "pg";
import { afterAll, beforeAll, describe, test } from "vitest";
import { postgresNames } from "../../src/stores/sql/postgres/schema/names.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { withApplication } from "./application.ts";
import { POSTGRES_APPLICATIONS } from "./postgres-applications.ts";
import { PREPARED_JOB_CASES } from "./prepared-jobs.ts";
import { PREPARED_STEP_CASES } from "./prepared-steps.ts";

const { inSchema: _, schema: __, ...tables } = postgresNames("escapement");
const EMPTY = ["orders", ...Object.values(tables)].map((table) => ({ sql: `DELETE FROM ${table}`, args: [] }));

let server: PostgresServer;
let pool: pg.Pool;
beforeAll(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url });
});
afterAll(async () => {
  await pool?.end();
  await server?.stop();
});

for (const [index, kind] of POSTGRES_APPLICATIONS.entries()) {
  describe(`prepared jobs and steps on PostgreSQL, by ${kind.name}`, () => {
    // The libraries differ in how they pass a statement on: a commit, a rollback and what the values are tell.
    const isDriver = index < 2;
    const jobs = PREPARED_JOB_CASES.filter(({ name }) => isDriver || /exactly|rollback|travels|is told of/.test(name));
    for (const { name, run } of jobs) {
      test(name, () =>
        withApplication(kind.over(pool, server.url), server.url, async (application, scheduler) => {
          await scheduler.getTasks();
          await application.commit(EMPTY);
          await run(application, scheduler);
        }),
      );
    }
    for (const { name, run } of isDriver ? PREPARED_STEP_CASES : PREPARED_STEP_CASES.slice(0, 1)) {
      test(`of a step: ${name}`, () =>
        withApplication(kind.over(pool, server.url), server.url, async (application, scheduler, store) => {
          await scheduler.getTasks();
          await application.commit(EMPTY);
          await run(application, store);
        }));
    }
  });
}
