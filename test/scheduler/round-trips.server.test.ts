import { afterAll, beforeAll, describe } from "vitest";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import { Sqld } from "../support/sqld.ts";
import { roundTripCases, SCHEDULES_MAX } from "./round-trips.ts";

let server: Sqld;
beforeAll(async () => {
  server = await Sqld.start();
});
afterAll(() => server?.stop());

describe("on a libSQL server", () => {
  const driver = (): LibsqlDriver =>
    new LibsqlDriver({ url: server.httpUrl }, { durability: "normal", timeoutMs: 60_000, openClient });
  roundTripCases({ driver }, [1000, SCHEDULES_MAX]);
});
