import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { CronTrigger, Scheduler } from "../../src/mod.ts";
import { ping, webhook } from "../../src/notices/mod.ts";
import { DurableObjectDataStore } from "../../src/stores/durable-object/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { START } from "../scheduler/support.ts";

afterEach(() => vi.unstubAllGlobals());

test("notices go out in the tick of the change, signed, and without following redirects, in workerd", async () => {
  const asked: string[] = [];
  // Nothing in workerd can start a server.
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    const type = init.method === "POST" ? JSON.parse(String(init.body)).type : "ping";
    asked.push(`${url} ${type} ${init.redirect} ${headers.get("webhook-signature")?.length ?? 0}`);
    // As workerd answers with a redirect that it does not follow.
    return new Response(null, { status: type === "paused" ? 302 : 200, headers: { location: "https://elsewhere/" } });
  });
  const stub = env.SQL_OBJECT.get(env.SQL_OBJECT.idFromName("notices"));
  await runInDurableObject(stub, async (_, { storage }) => {
    const clock = new VirtualClock(START);
    const secret = `whsec_${btoa("x".repeat(32))}`;
    const notices = [
      webhook({ url: "https://example.org/hook", on: ["failed", "recovered", "paused"], secret }),
      ping({ url: "https://example.org/ping" }),
    ];
    const dataStore = new DurableObjectDataStore(storage, { tablePrefix: "notices_" });
    const scheduler = new Scheduler({ dataStore, clock, notices, logLevel: "silent" });
    let fails = true;
    scheduler.task("work", () => {
      if (fails) throw new Error("boom");
    });
    await scheduler.addSchedule("work", new CronTrigger("* * * * *"), { id: "report" });
    for (const outcome of [true, true, false]) {
      fails = outcome;
      await clock.advance({ minutes: 1 });
      await scheduler.tick();
    }
    await scheduler.pauseSchedule("report");
    await scheduler.tick();
    await scheduler.stop();
  });
  expect(asked).toEqual([
    "https://example.org/hook failed manual 47",
    expect.stringMatching(/recovered|ping/),
    expect.stringMatching(/recovered|ping/),
    "https://example.org/hook paused manual 47",
  ]);
});
