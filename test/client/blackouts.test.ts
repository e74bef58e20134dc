import { describe, expect, test } from "vitest";
import { ConflictingIdError, CronTrigger, OptionsError } from "../../src/mod.ts";
import { setUpRouter } from "../hono/support.ts";
import { at, everySecond, rejectionOf, setUp } from "../scheduler/support.ts";
import { setUpBehindRouter } from "./support.ts";

const BERLIN = CronTrigger.fromCrontab("0 2 * * sun", { timeZone: "Europe/Berlin" });

describe("blackouts behind a router", () => {
  test("are added, listed, heeded and removed as those of a scheduler", async () => {
    const near = setUp();
    const far = setUpBehindRouter();
    const answers = await Promise.all(
      [
        { ...near, client: near.scheduler },
        { ...far, client: far.client },
      ].map(async ({ client, scheduler, clock }) => {
        scheduler.task("t", () => {});
        await scheduler.addSchedule("t", everySecond(), { id: "s" });
        const said = [
          await client.addBlackout("once", { from: at(0), until: at(5), by: "Ada", reason: "upgrade" }),
          await client.addBlackout("weekly", {
            trigger: BERLIN,
            duration: "2h",
            missed: "runOnce",
            taskIds: ["t"],
            by: "Ada",
          }),
          await client.addBlackout("text", {
            trigger: "0 2 * * *",
            duration: { hours: 1 },
            labels: { a: "b" },
            by: "Ada",
          }),
          await client.getBlackouts(),
          await client.previewSchedule("s", { limit: 7 }),
        ];
        await clock.advance("PT3S");
        await scheduler.tick();
        said.push((await client.explain("s", at(2))) as never, (await client.removeBlackout("once")) as never);
        said.push((await client.removeBlackout("once")) as never, (await client.getBlackouts()) as never);
        const conflict = client.addBlackout("text", { from: at(0), until: at(1), conflictPolicy: "error" });
        expect(await rejectionOf(conflict)).toBeInstanceOf(ConflictingIdError);
        expect(await rejectionOf(client.addBlackout("b", { from: at(1), until: at(0) }))).toBeInstanceOf(OptionsError);
        return JSON.parse(JSON.stringify(said));
      }),
    );
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[0]?.[3]).toHaveLength(3);
    expect(answers[0]?.[5]).toMatchObject({ verdict: "blackedOut", cause: { kind: "blackout", id: "once" } });
    expect(answers[0]?.slice(6, 8)).toEqual([true, false]);
  });
});

describe("the router", () => {
  test("answers what is wrong with a blackout, and stays as it was", async () => {
    const { ask } = setUpRouter();
    const once = { id: "b", from: "2030-01-01T00:00:00Z", until: "2030-01-02T00:00:00Z" };
    const wrong: unknown[] = [
      {},
      { id: "b" },
      { id: "", from: once.from, until: once.until },
      { ...once, until: once.from },
      { ...once, until: 7 },
      { ...once, duration: "2h" },
      { id: "b", trigger: { cron: "0 2 * * sun" } },
      { id: "b", trigger: { cron: "0 99 * * *" }, duration: "2h" },
      { id: "b", trigger: { type: "nobody knows", version: 1 }, duration: "2h" },
      { id: "b", trigger: "0 2 * * sun", duration: "-2h" },
      { id: "b", trigger: "0 2 * * sun", duration: "P9999999Y" },
      { ...once, taskIds: [] },
      { ...once, taskIds: Array.from({ length: 1001 }, (_, index) => `t${index}`) },
      { ...once, taskIds: [["t"]] },
      { ...once, labels: { __proto__: null } },
      { ...once, labels: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`l${index}`, "x"])) },
      { ...once, labels: { a: 1 } },
      { ...once, missed: "later" },
      { ...once, reason: "x".repeat(501) },
      { ...once, createdAt: once.from },
    ];
    for (const body of wrong) expect([body, (await ask("POST /blackouts", body)).status]).toEqual([body, 422]);
    expect((await ask("GET /blackouts")).body).toEqual({ items: [], cursor: null });
    const added = await ask("POST /blackouts", { ...once, id: "a/b", reason: "upgrade" });
    expect([added.status, added.headers.get("location")]).toEqual([201, "/blackouts/a%2Fb"]);
    expect((await ask("POST /blackouts", { ...once, id: "a/b", reason: "another" })).status).toBe(409);
    expect((await ask("DELETE /blackouts/a%2Fb?by=Ada")).status).toBe(204);
    expect(await ask("DELETE /blackouts/a%2Fb")).toMatchObject({ status: 404, body: { code: "blackoutNotFound" } });
  });
});
