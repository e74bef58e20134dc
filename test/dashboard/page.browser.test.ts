import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CronTrigger, IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { HANG_MS } from "../support/hang.ts";
import { hasChromium, launch, openTab, quiet, READ, type Site, serveSite, type Tab } from "./site.ts";

/** Names that break links: all of them are ids of schedules here. */
const NASTY = ["a/b.c", "50% off", "..a", "with space", "q?x=1#y&z", "ünï"];

async function startScheduler(): Promise<Scheduler> {
  const scheduler = new Scheduler({ identity: "w-1", logger: quiet });
  scheduler.task("mail.digest", () => "sent");
  scheduler.task("stripe.sync", () => {
    throw Object.assign(new Error("upstream answered 503 after 17 ms"), { name: "StripeConnectionError" });
  });
  scheduler.task("etl.orders", async (_payload, { signal, job }) => {
    await scheduler.getJob(job.id);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    signal.throwIfAborted();
  });
  await scheduler.addSchedule("mail.digest", new IntervalTrigger({ seconds: 1 }), { id: "mail/digest" });
  const nightly = CronTrigger.fromCrontab("30 2 * * *", { timeZone: "Europe/Berlin" });
  await scheduler.addSchedule("mail.digest", nightly, { id: "backup/nightly", payload: { bucket: "eu-1" } });
  for (const id of NASTY) await scheduler.addSchedule("mail.digest", nightly, { id });
  await scheduler.start();
  return scheduler;
}

describe.runIf(hasChromium)("the page in Chromium", () => {
  let browser: Browser;
  let scheduler: Scheduler;
  let site: Site;
  let tab: Tab | undefined;
  beforeAll(async () => {
    browser = await launch();
    scheduler = await startScheduler();
    site = await serveSite(scheduler, { instance: "production" });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
    await scheduler?.stop();
  });
  afterEach(async () => {
    const complaints = tab?.complaints ?? [];
    await tab?.[Symbol.asyncDispose]();
    tab = undefined;
    expect(complaints).toEqual([]);
  });
  const open = async (options: Parameters<typeof openTab>[2] = {}): Promise<Tab> => {
    tab = await openTab(browser, site, options);
    return tab;
  };

  test("a schedule is added by typing, which says what it means, and is then in the list", async () => {
    const { page, go, picture } = await open();
    await page.getByRole("navigation").first().getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("button", { name: "Add schedule" }).click();
    await page.getByLabel("Task").fill("mail.digest");
    await page.getByLabel("When").fill("0 9 * * mon-fir");
    await page.getByText("Use mon-fri").waitFor();
    await picture("add-bad");
    await page.getByText("Use mon-fri").click();
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await page.getByText("At 09:00, Monday to Friday, in Europe/Berlin").waitFor();
    await page.getByLabel("Id").fill("report/weekdays");
    await picture("add");
    await page.getByRole("button", { name: "Add schedule" }).click();
    await page.getByRole("heading", { name: "report/weekdays" }).waitFor();
    await go("schedules");
    await page.getByRole("searchbox").fill("weekdays");
    await page.getByRole("row", { name: /report\/weekdays/ }).waitFor();
    await expect.poll(() => page.getByRole("row").count(), { timeout: HANG_MS }).toBe(2);
    expect((await scheduler.getSchedule("report/weekdays")).trigger.describe()).toBe(
      "At 09:00, Monday to Friday, in Europe/Berlin",
    );
    await scheduler.removeSchedule("report/weekdays");
  });

  test.each(NASTY)("the id %j survives links, reloads and actions", async (id) => {
    const { page, go } = await open();
    await go("schedules");
    await page.getByRole("link", { name: id, exact: true }).click();
    await page.getByRole("heading", { name: id, exact: true }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: id, exact: true }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Unpause" }).waitFor();
    expect((await scheduler.getSchedule(id)).paused).toBe(true);
    await page.getByRole("button", { name: "Unpause" }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  });

  test("a fire time is explained", async () => {
    const { page, go, picture } = await open();
    await go("schedules/backup%2Fnightly");
    await page.getByLabel(/Time to explain/).fill("2027-03-28T02:30:00");
    await page.getByRole("button", { name: "Explain" }).first().click();
    await page.getByRole("region", { name: "Why" }).getByText("clocks go from 02:00 to 03:00").waitFor();
    await picture("detail");
  });

  test("whoever may only read sees no button that changes something", async () => {
    const { page, go } = await open({ token: READ });
    await page.getByText("You may look at everything here, and change nothing.").waitFor();
    await go("schedules/backup%2Fnightly");
    await page.getByRole("heading", { name: "backup/nightly" }).waitFor();
    for (const name of ["Run now", "Pause", "Edit", "Remove"]) {
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    }
  });

  test.each([
    ["overview", "Needs attention"],
    ["schedules", "backup/nightly"],
    ["schedules/backup%2Fnightly", "Settings"],
    ["schedules/backup%2Fnightly/edit", "What this changes"],
    ["add", "What this means"],
    ["timeline", "Lanes"],
    ["runs", "mail/digest"],
    ["tasks", "mail.digest"],
    ["system", "Store and events"],
    ["crontab", "What they mean"],
  ])("%s has nothing that axe-core finds wrong, in both themes", async (place, text) => {
    const { page, go, picture, violations } = await open();
    await go(place);
    await page.locator("main").getByText(text).first().waitFor();
    await picture(place.replace(/[^a-z]+/g, "-"));
    expect(await violations()).toEqual([]);
  });
});
