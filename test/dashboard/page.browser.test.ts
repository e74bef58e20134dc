import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { CronTrigger, IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { Platform } from "../cloudflare/durable-object/platform.ts";
import { HANG_MS } from "../support/hang.ts";
import { Nginx } from "../support/nginx.ts";
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
  await scheduler.runJob("stripe.sync", { labels: { team: "billing" } }).catch(() => {});
  return scheduler;
}

const BOTH = ["light", "dark"] as const;

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
    await tab?.[Symbol.asyncDispose]();
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

  test("somebody new adds a schedule, says when it fires next, and finds out why a run failed", async () => {
    const { page, picture } = await open();
    const failure = page.getByRole("region", { name: "Needs attention" }).getByRole("listitem").first();
    await failure.getByText("StripeConnectionError: upstream answered 503 after 17 ms").waitFor();
    await failure.getByRole("button", { name: "Open" }).click();
    await page.getByRole("region", { name: "Error" }).getByText("upstream answered 503").waitFor();
    await page.getByText("It has not succeeded since.").waitFor();
    await page.getByRole("region", { name: "What happened" }).getByText("attempt 1 started").waitFor();

    await page.getByRole("navigation").first().getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("button", { name: "Add schedule" }).click();
    await page.getByText("It lacks a task.").waitFor();
    await page.getByRole("button", { name: "mail.digest" }).click();
    await page.getByText("Handled by w-1.").waitFor();
    await page.getByText("It lacks when it is to run.").waitFor();
    await page.getByRole("button", { name: "weekdays at 9" }).click();
    const meaning = page.getByRole("region", { name: "What this means" });
    await meaning.getByText("At 09:00, Monday to Friday, in Europe/London").waitFor();
    await meaning.getByText(/The next is in \d+/).waitFor();
    await page.getByLabel("Id").fill("report/new");
    await picture("newcomer");
    await page.getByRole("button", { name: "Add schedule" }).click();
    await page.getByRole("heading", { name: "report/new" }).waitFor();
    const rule = page.getByRole("region", { name: "Rule" });
    const next = (await scheduler.getSchedule("report/new")).nextFireTime?.toZonedDateTimeISO("Europe/London");
    await rule.getByRole("link", { name: new RegExp(`${next?.day} \\w+ 09:00`) }).waitFor();
    await tab?.[Symbol.asyncDispose]();
    await scheduler.removeSchedule("report/new");
  });

  test("what others find it by keeps its name and its role", async () => {
    const { page, complaints, go } = await open();
    await page.goto(`${site.url}/`);
    const pages = ["Overview", "Schedules", "Timeline", "Runs", "Tasks", "System"];
    for (const name of pages) await page.getByRole("navigation").first().getByRole("link", { name }).waitFor();
    for (const place of ["schedules", "runs", "tasks"]) {
      await go(place);
      await page.getByRole("searchbox").waitFor();
      expect([place, await page.getByRole("searchbox").count()]).toEqual([place, 1]);
    }
    await go("add");
    for (const name of ["Id", "Task", "When", "Time zone"]) await page.getByLabel(name, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Add schedule" }).waitFor();
    await go("schedules");
    const schedule = page.getByRole("row", { name: /backup\/nightly/ });
    for (const name of ["Run now", "Pause"]) await schedule.getByRole("button", { name }).waitFor();
    await go("schedules/backup%2Fnightly");
    await page.getByRole("button", { name: "Run now" }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Unpause" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await go("schedules/mail%2Fdigest");
    await page.getByRole("row").getByRole("button", { name: "Explain" }).first().click();
    await page.getByRole("region", { name: "Why" }).waitFor();
    const job = await scheduler.addJob("etl.orders");
    await go("runs");
    await page
      .getByRole("row", { name: new RegExp(job.id) })
      .getByRole("button", { name: "Cancel" })
      .waitFor();
    await go("runs?show=failed");
    await page
      .getByRole("row", { name: /stripe\.sync/ })
      .getByRole("button", { name: "Retry" })
      .waitFor();
    await page.getByRole("listitem", { name: /stripe\.sync: 1 × StripeConnectionError: upstream/ }).waitFor();
    await page.setViewportSize({ width: 400, height: 800 });
    const phone = page.getByRole("navigation", { name: "Pages on a phone" });
    for (const name of ["Overview", "Schedules", "Timeline", "Runs"]) await phone.getByRole("link", { name }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    for (const name of ["Tasks", "System"]) await phone.getByRole("link", { name }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole("status").filter({ hasText: "offline" }).waitFor();
    await page.context().setOffline(false);
    await page
      .getByRole("status")
      .filter({ hasText: /live|every 5 s/ })
      .waitFor();
    await job.cancel();
    // The browser writes down each request that went nowhere.
    expect(complaints.filter((text) => !/ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED/.test(text))).toEqual([]);
    complaints.length = 0;
  });

  test("behind nginx, with the configuration of the documentation, it is the same page", async () => {
    const documentation = await readFile(new URL("../../docs/http.md", import.meta.url), "utf8");
    const [, configuration = ""] = /```nginx\n(.*?)```/s.exec(documentation) ?? [];
    const nginx = await Nginx.start(configuration.replace("127.0.0.1:3000", new URL(site.url).host));
    onTestFinished(() => nginx.stop());
    tab = await openTab(browser, { url: `${nginx.url}/scheduler/` });
    const { page, go } = tab;
    await go("schedules/a%2Fb.c");
    await page.getByRole("heading", { name: "a/b.c" }).waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByText("a/b.c runs now.").waitFor();
    await page
      .getByText(/live|every 5 s/)
      .first()
      .waitFor();
    await tab[Symbol.asyncDispose]();
  });

  test("in a Worker, at the root of its host, it adds a schedule and runs it", async () => {
    const worker = new URL("../cloudflare/object-router-worker.ts", import.meta.url);
    await using platform = await Platform.start(worker, { JOBS: "Jobs" });
    tab = await openTab(browser, { url: platform.url }, { token: "a-long-random-text-of-this-test" });
    const { page } = tab;
    await page.getByRole("button", { name: "Add schedule" }).click();
    await page.getByLabel("When").fill("0 9 * * *");
    await page.getByText(/The next is in/).waitFor();
    await page.getByLabel("Id").fill("morning");
    await page.getByRole("button", { name: "Add schedule" }).click();
    await page.getByRole("heading", { name: "morning" }).waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByRole("link", { name: "Open" }).click();
    await page.getByRole("region", { name: "Output" }).getByText("Hello, undefined!").waitFor();
    await tab[Symbol.asyncDispose]();
  });

  test("whoever may only read sees no button that changes something", async () => {
    const { page, go } = await open({ token: READ });
    await page.getByText("You may look at everything here, and change nothing.").waitFor();
    await go("schedules/backup%2Fnightly");
    await page.getByRole("heading", { name: "backup/nightly" }).waitFor();
    for (const name of ["Run now", "Pause", "Until…", "Backfill…", "Edit", "Remove"]) {
      expect([name, await page.getByRole("button", { name, exact: true }).count()]).toEqual([name, 0]);
    }
    await go("system");
    await page.getByRole("region", { name: "Blackouts" }).waitFor();
    expect(await page.getByRole("button", { name: "Add blackout" }).count()).toBe(0);
  });

  test("nothing of it is what axe-core finds wrong: each page and dialog in both themes, and on a phone", async () => {
    const { page, go, picture, violations } = await open();
    const found: unknown[] = [];
    const look = async (name: string, themes: Parameters<typeof violations>[0]): Promise<void> => {
      await picture(name);
      found.push(...(await violations(themes)).map((violation) => `${name}: ${violation}`));
    };
    const { items } = await scheduler.getRuns({ outcome: "error", limit: 1 });
    const places = [
      ["overview", "Needs attention"],
      ["schedules", "backup/nightly"],
      ["schedules/backup%2Fnightly", "Settings"],
      ["schedules/backup%2Fnightly/edit", "What this changes"],
      ["add", "What this means"],
      ["timeline", "Lanes"],
      ["runs", "mail/digest"],
      ["runs?show=failed", "By error"],
      [`runs/${items[0]?.id}`, "About this run"],
      ["tasks", "mail.digest"],
      ["tasks/mail.digest", "Handled by"],
      ["system", "Store and events"],
      ["crontab", "What they mean"],
      ["nowhere", "There is no such page"],
    ] as const;
    for (const [place, text] of places) {
      await go(place);
      await page.locator("main").getByText(text).first().waitFor();
      await look(place.replace(/[^a-z]+/g, "-"), BOTH);
    }
    const dialogs = [
      ["schedules/backup%2Fnightly", "Until…"],
      ["schedules/backup%2Fnightly", "Backfill…"],
      ["schedules/backup%2Fnightly", "Remove"],
      [`runs/${items[0]?.id}`, "Run again with changes…"],
      ["system", "Add blackout"],
    ] as const;
    for (const [place, button] of dialogs) {
      await go(place);
      await page.getByRole("button", { name: button }).click();
      await page.getByRole("dialog").waitFor();
      await look(`dialog ${button.toLowerCase().replace(/[^a-z]+/g, "-")}`, BOTH);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await page.setViewportSize({ width: 400, height: 800 });
    for (const [place, text] of places) {
      await go(place);
      await page.locator("main").getByText(text).first().waitFor();
      await look(`phone ${place.replace(/[^a-z]+/g, "-")}`, ["dark"]);
      expect([place, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([place, 400]);
    }
    expect(found).toEqual([]);
  });
});
