import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CronTrigger, Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { HANG_MS } from "../support/hang.ts";
import { hasChromium, launch, openTab, quiet, type Site, serveSite, type Tab } from "./site.ts";

const HOURLY = "invoices/remind-by-mail";
const LONG = "tenant/northern-europe/warehouse/stock-levels";
const NEVER = CronTrigger.fromCrontab("0 0 1 1 *", { timeZone: "UTC" });
const HOUR_MS = 3_600_000;
const WITHIN = { timeout: HANG_MS };

// What a day before has left in a file: runs, failures, and fire times that nobody was up for.
describe.runIf(hasChromium)("the page of a store with a past, in Chromium", () => {
  const folder = mkdtempSync(join(tmpdir(), "page-"));
  const on = (options: ConstructorParameters<typeof Scheduler>[0]): Scheduler => {
    const scheduler = new Scheduler({
      dataStore: new LibsqlDataStore({ url: `file:${join(folder, "jobs.db")}` }),
      logger: quiet,
      ...options,
    });
    scheduler.task("mail", () => "sent");
    scheduler.task("sync", { timeout: { minutes: 20 } }, () => {
      throw Object.assign(new Error("upstream answered 503 after 17 ms"), { name: "StripeConnectionError" });
    });
    return scheduler;
  };
  let browser: Browser;
  let scheduler: Scheduler;
  let site: Site;
  let tab: Tab | undefined;
  beforeAll(async () => {
    const clock = new VirtualClock(new Date(Date.now() - 20 * HOUR_MS));
    const old = on({ clock, identity: "w-old" });
    const keep = { misfireGraceTime: { minutes: 10 }, resultExpirationTime: { days: 9 } };
    const hourly = CronTrigger.fromCrontab("30 * * * *", { timeZone: "Europe/Berlin" });
    await old.addSchedule("mail", hourly, { id: HOURLY, coalesce: "all", ...keep });
    await old.addSchedule("sync", hourly, { id: LONG, labels: { team: "billing" } });
    await old.start();
    await clock.advance({ hours: 6 });
    await old.stop();
    await clock.advance({ hours: 5 });
    await old.start();
    await clock.advance({ hours: 8 });
    await old.stop();
    browser = await launch();
    scheduler = on({ identity: "w-1" });
    await scheduler.start();
    site = await serveSite(scheduler, { instance: "production" });
  }, HANG_MS);
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
    await scheduler?.stop();
    rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    const complaints = tab?.complaints ?? [];
    await tab?.[Symbol.asyncDispose]();
    tab = undefined;
    expect(complaints).toEqual([]);
  });

  test("it is live while its process is alone, says so within seconds of a second one, and is live again", async () => {
    tab = await openTab(browser, site);
    const { page } = tab;
    const status = page.getByRole("banner").getByRole("status");
    await expect.poll(() => status.textContent(), WITHIN).toBe("live");
    const second = on({ identity: "w-2" });
    await second.start();
    await expect.poll(() => status.textContent(), WITHIN).toBe("every 5 s");
    await second.addSchedule("mail", NEVER, { id: "of the second" });
    await tab.go("schedules?sort=id");
    await page.getByRole("row", { name: /of the second/ }).waitFor();
    await page.reload();
    await expect.poll(() => status.textContent(), WITHIN).toBe("every 5 s");
    await second.stop();
    await expect.poll(() => status.textContent(), WITHIN).toBe("live");
    const other = on({ identity: "operator" });
    await other.removeSchedule("of the second");
    await page.getByRole("row", { name: /of the second/ }).waitFor({ state: "detached" });
    await other.stop();
  });
});
