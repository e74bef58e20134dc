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
const LONG = "northern-europe/warehouse/levels";
const PAUSED = "shop/reprice";
const WAITING = "export/to-warehouse";
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
    scheduler.task("export", () => "exported");
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
    await old.addSchedule("mail", hourly, { id: PAUSED });
    await old.start();
    await clock.advance({ hours: 6 });
    await old.pauseSchedule(PAUSED, { reason: "the prices are being checked" });
    await old.stop();
    await clock.advance({ hours: 5 });
    await old.start();
    await old.pauseTask("export", { reason: "the disk is full" });
    await old.addSchedule("export", hourly, { id: WAITING, expectStartWithin: { minutes: 5 } });
    await clock.advance({ hours: 8 });
    await old.stop();
    browser = await launch();
    scheduler = on({ identity: "w-1" });
    await scheduler.start();
    site = await serveSite(scheduler, { instance: "production" });
  });
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

  const pageOf = (id: string, at = ""): string => `schedules/${encodeURIComponent(id)}${at && `?at=${at}`}`;
  const BOXES = [
    ["missed", pageOf(HOURLY)],
    ["error", pageOf(LONG)],
    ["paused", pageOf(PAUSED, new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2.5 * HOUR_MS).toISOString())],
  ] as const;

  test.each(BOXES)("axe-core finds nothing wrong with a box of the kind %s, in both themes", async (kind, place) => {
    tab = await openTab(browser, site, { viewport: { width: 1280, height: 850 } });
    const { page, go, picture, violations } = tab;
    await go(place);
    const box = page.getByRole("region", { name: "Why" });
    await box.getByRole("heading").waitFor();
    expect(await box.getAttribute("class")).toBe(`callout ${kind}`);
    await picture(`why ${kind}`);
    expect(await violations(["light", "dark"])).toEqual([]);
  });

  test("with runs that are overdue and with rows selected, axe-core finds nothing wrong with the lists, in both themes", async () => {
    tab = await openTab(browser, site);
    const { page, go, picture, violations } = tab;
    await page
      .getByText(/overdue by/)
      .first()
      .waitFor();
    await picture("overdue");
    expect(await violations(["light", "dark"])).toEqual([]);
    for (const place of ["schedules", "runs"]) {
      await go(place);
      await page.getByLabel("Select all that are shown").check();
      await page.locator("tr.selected").first().waitFor();
      expect([place, await violations(["light", "dark"])]).toEqual([place, []]);
    }
  });

  test.each([1280, 1024, 390])("at %i px no column is cut, no text is smaller than 11 px", async (width) => {
    tab = await openTab(browser, site, { viewport: { width, height: 850 } });
    const { page, go, picture } = tab;
    const [run] = (await scheduler.getRuns({ scheduleId: LONG, limit: 1 })).items;
    const places = [
      ["overview", "Next fires"],
      ["schedules", LONG],
      [pageOf(HOURLY), "What became of it"],
      [pageOf(LONG), "not run: a later run stands for it"],
      ["runs", LONG],
      ["runs?show=failed", "By error"],
      [`runs/${run?.id}`, "About this run"],
      ["tasks", "sync"],
      ["tasks/sync", "Timeout of an attempt"],
      ["system", "Store and events"],
    ] as const;
    for (const [place, text] of places) {
      await go(place);
      await page.locator("main").getByText(text).first().waitFor({ state: "attached" });
      await picture(`${width} ${place.replace(/[^a-z]+/gi, "-").slice(0, 40)}`);
      const found = await page.evaluate((isPhone) => {
        const wrong: string[] = [];
        for (const element of document.querySelectorAll<HTMLElement>("main *:not(svg *)")) {
          if (element.closest(".visually-hidden") || element.clientWidth === 0) continue;
          const { overflowX, fontSize } = getComputedStyle(element);
          const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim());
          if (isText && Number.parseFloat(fontSize) < 11) wrong.push(`small: ${element.textContent}`);
          // Long names and errors in lists end with an ellipsis, and the page of each has the whole.
          const mayEnd = element.matches(isPhone ? ".t-list .faint" : ".t-list *, .row *");
          const isCut = overflowX !== "visible" && element.scrollWidth > element.clientWidth;
          if (isCut && !mayEnd) wrong.push(`cut: ${element.className} ${element.textContent?.slice(0, 80)}`);
        }
        const { scrollWidth } = document.documentElement;
        return scrollWidth > innerWidth ? [...wrong, `the page is ${scrollWidth} px wide`] : wrong;
      }, width === 390);
      expect.soft([place, found]).toEqual([place, []]);
    }
  });
});
