import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import type { StepCount } from "../support/counting-driver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { roundTripCases, SCHEDULES_MAX } from "./round-trips.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

/** SQLite lists the statements of a connection with their steps until they are collected. */
const countSteps: StepCount = async (driver, statements) => {
  const texts = JSON.stringify(statements.map(({ sql }) => sql));
  const sql = "SELECT max(nstep) AS steps FROM sqlite_stmt WHERE sql IN (SELECT value FROM json_each(?1))";
  return Number((await driver.execute({ sql, args: [texts] }))[0]?.steps);
};

describe("on a file of libSQL", () => {
  const driver = (name: string): LibsqlDriver =>
    new LibsqlDriver(
      { url: `file:${join(folder.path, `${name}.db`)}` },
      { durability: "normal", timeoutMs: 1000, openClient },
    );
  roundTripCases({ driver, countSteps }, [1000, SCHEDULES_MAX]);
});
