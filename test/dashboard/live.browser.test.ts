import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { CronTrigger, IntervalTrigger, Scheduler } from "../../src/mod.ts";
import { HANG_MS } from "../support/hang.ts";
import { hasChromium, launch, openTab, quiet, type Site, serveSite, type Tab } from "./site.ts";

/** Strings that would do something, were they markup, a format or a name of an object: 204 of them. */
const CORES = [
  ...["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "\"><svg onload='alert(1)'>", "javascript:alert(1)"],
  ...["{{7*7}}", "$" + "{7*7}", "%3Cscript%3E", "&lt;b&gt;", "__proto__", "constructor", "toString", "\u202egnp.exe"],
  ...["'; DROP TABLE jobs;--", "../../etc/passwd", "a\tb", "=cmd|' /C calc'!A0", "</style><style>*{display:none}"],
];
const WRAPS = [
  ["", ""],
  ["'", "'"],
  ['"', '"'],
  ["<!--", "-->"],
  ["</td>", ""],
  ["\\", ""],
  ["&", ";"],
  ["<a href=", ">"],
];
const MORE = [
  ["</textarea>", ""],
  ["</title>", ""],
  ["`", "`"],
  ["<math><mi>", "</mi>"],
];
const HOSTILE = [...WRAPS, ...MORE].flatMap(([before, after]) => CORES.map((core) => `${before}${core}${after}`));

/** A rule that does not fire while these tests run. */
const YEARLY = CronTrigger.fromCrontab("0 0 1 1 *", { timeZone: "UTC" });

/** How long something may take on a busy machine. */
const WITHIN = { timeout: HANG_MS };

describe.runIf(hasChromium)("the live page in Chromium", () => {
  let browser: Browser;
  let scheduler: Scheduler;
  let site: Site;
  let tab: Tab | undefined;
  let isFailing = true;
  beforeAll(async () => {
    browser = await launch();
    scheduler = new Scheduler({ identity: "w-1", logger: quiet });
    scheduler.task("tick", () => "tock");
    scheduler.task("fails", () => {
      if (isFailing) throw Object.assign(new Error("upstream answered 503 after 17 ms"), { name: "StripeError" });
    });
    scheduler.task("slow", async (_payload, { signal, progress }) => {
      progress(0.31, "page 31 of 100");
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      signal.throwIfAborted();
    });
    scheduler.task("echo", (payload) => {
      throw new Error(String(payload));
    });
    await scheduler.addSchedule("tick", YEARLY, { id: "yearly" });
    await scheduler.start();
    site = await serveSite(scheduler);
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
    await scheduler.removeSchedules({ taskId: "tick" });
    await scheduler.addSchedule("tick", YEARLY, { id: "yearly" });
  });
  const open = async (options: Parameters<typeof openTab>[2] = {}): Promise<Tab> => {
    tab = await openTab(browser, site, options);
    return tab;
  };

  test("what fires shows at once, and what is paused stays so", async () => {
    const { page, go } = await open();
    await go("runs");
    await scheduler.addSchedule("tick", new IntervalTrigger({ seconds: 1 }), { id: "every-second" });
    await page
      .getByRole("row", { name: /every-second/ })
      .nth(1)
      .waitFor();
    await go("schedules");
    const row = page.getByRole("row", { name: /every-second/ });
    await row.getByRole("button", { name: "Pause" }).click();
    await row.getByRole("button", { name: "Unpause" }).waitFor();
    expect((await scheduler.getSchedule("every-second")).paused).toBe(true);
    await scheduler.removeSchedule("every-second");
    await row.waitFor({ state: "detached" });
  });

  test("a change of a rule is shown as what comes and what goes, and asked about", async () => {
    await scheduler.addSchedule("tick", CronTrigger.fromCrontab("0 9 * * *", { timeZone: "UTC" }), { id: "daily" });
    const { page, go, picture } = await open();
    await go("schedules/daily/edit");
    await page.getByLabel("When", { exact: true }).fill("30 9 * * *");
    const change = page.getByRole("region", { name: "What this changes" });
    await change.getByRole("listitem").filter({ hasText: "+" }).first().waitFor();
    await change.getByRole("listitem").filter({ hasText: "−" }).first().waitFor();
    await picture("edit");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").getByText("From now on: At 09:30, in UTC. It was: At 09:00, in UTC.").waitFor();
    await page.getByRole("button", { name: "Change the rule" }).click();
    await page.getByRole("heading", { name: "daily" }).waitFor();
    await page.getByText(/rule: At 09:00.* → At 09:30/).waitFor();
    expect((await scheduler.getSchedule("daily")).trigger.describe()).toBe("At 09:30, in UTC");
  });

  test("a herd is told of: in the timeline, and to whoever adds one more, with an emptier minute", async () => {
    const soon = new Date(Date.now() + 1_500_000);
    // Not the last minute of its hour, because the advice stays within the hour.
    const at = new Date(Date.now() + (soon.getUTCMinutes() === 59 ? 1_800_000 : 1_500_000));
    const cron = `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
    const herd = CronTrigger.fromCrontab(cron, { timeZone: "UTC" });
    for (let count = 0; count < 12; count++) await scheduler.addSchedule("tick", herd, { id: `herd/${count}` });
    const { page, go, picture } = await open({ timezoneId: "UTC" });
    await page.getByText(/^12 at \d\d:\d\d$/).waitFor();
    await go("timeline?span=1+h");
    await page.getByText(/12 fires, (today|tomorrow) \d\d:\d\d\./).waitFor();
    await page.getByText(/(Today|Tomorrow) .* has 0: move some there/).waitFor();
    await picture("herd");
    await go("add");
    await page.getByLabel("When", { exact: true }).fill(cron);
    await page.getByText("At the first of these times, 12 others fire in the same minute.").waitFor();
    await page.getByRole("button", { name: /Use minute \d\d, at which it would be alone/ }).click();
    await page.getByText("12 others").waitFor({ state: "detached" });
    expect(await page.getByLabel("When", { exact: true }).inputValue()).not.toBe(cron);
  });

  test("failures are one group, whose runs are all retried at once", async () => {
    isFailing = true;
    for (let count = 0; count < 3; count++) await scheduler.runJob("fails").catch(() => {});
    const { page, go, picture } = await open();
    const group = page.getByRole("listitem", { name: /fails: 3 × StripeError: upstream answered 503/ });
    await group.waitFor();
    await picture("failing");
    isFailing = false;
    await group.getByRole("button", { name: "Retry all" }).click();
    await page.getByRole("button", { name: "Retry 3 runs" }).click();
    await page.getByText("3 runs will run once more.").waitFor();
    await go("runs?show=success");
    await expect.poll(() => page.getByRole("row", { name: /fails/ }).count(), WITHIN).toBe(3);
  });

  test("all runs that match are retried or cancelled on the server, once somebody has confirmed how many", async () => {
    isFailing = true;
    const jobs = await scheduler.addJobs(
      Array.from({ length: 120 }, () => ({ task: "fails", labels: { all: "yes" } })),
    );
    await Promise.all(jobs.map((job) => job.wait().catch(() => {})));
    const { page, go } = await open();
    await go("runs?show=failed&label=all%3Ayes");
    await page.getByLabel("Select all that are shown").check();
    await page.getByText("100 selected").waitFor();
    await page.getByRole("button", { name: "Select all 120 that match" }).click();
    await page.getByText("120 selected").waitFor();
    isFailing = false;
    await page.getByRole("button", { name: "Retry 120 that ended" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Retry 120 runs" }).click();
    await page.getByText("120 runs will run once more.").waitFor();
    const later = (_: unknown, n: number) => ({ task: "fails", idempotencyKey: `later-${n}`, delay: "1h" });
    await scheduler.addJobs(Array.from({ length: 120 }, later));
    await go("runs?show=waiting&search=later-");
    await page.getByLabel("Select all that are shown").check();
    await page.getByRole("button", { name: "Select all 120 that match" }).click();
    await page.getByRole("button", { name: "Cancel 120 unfinished" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel 120 runs" }).click();
    await page.getByText("120 runs cancelled.").waitFor();
    await page.getByRole("button", { name: "Cancelled 120", exact: true }).click();
    await page
      .getByRole("row", { name: /cancelled/ })
      .first()
      .waitFor();
    await page.getByLabel("Select all that are shown").check();
    await page.getByRole("button", { name: "Select all 120 that match" }).click();
    await page.getByRole("button", { name: "Delete 120 that ended" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete 120 runs" }).click();
    await page.getByText("120 runs deleted.").waitFor();
    await page.getByRole("button", { name: "Cancelled 0", exact: true }).waitFor();
    expect((await scheduler.getRuns({ search: "later-" })).items).toEqual([]);
  });

  test("a running job tells its progress, and is cancelled", async () => {
    const { page, picture } = await open();
    await page.getByText("Nothing runs at the moment.").waitFor();
    const job = await scheduler.addJob("slow");
    await page.getByRole("progressbar", { name: "Progress of slow" }).waitFor();
    await page.getByText("31 % page 31 of 100").waitFor();
    await picture("running");
    await page.getByRole("listitem").filter({ hasText: "slow" }).getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.getByText("Nothing runs at the moment.").waitFor();
    expect((await job.result())?.outcome).toBe("cancelled");
  });

  test("a run that failed says why, and runs again with a changed payload", async () => {
    const failed = await scheduler.addJob("echo", { payload: { team: "finance" } });
    await failed.wait().catch(() => {});
    const { page, go, picture } = await open();
    await go(`runs/${failed.id}`);
    await page.getByText("Error: [object Object]").first().waitFor();
    await picture("run");
    await page.getByRole("button", { name: "Run again with changes" }).click();
    await page.getByLabel("Input of the new run").fill('"another one"');
    await page.getByRole("button", { name: "Run it" }).click();
    await page.getByText("It runs once more.").waitFor();
    await go("runs?search=another+one");
    await page.getByText("Error: another one").waitFor();
  });

  test("a pause ends by itself and says why, and what it left out is made up for, once it was counted", async () => {
    const hourly = CronTrigger.fromCrontab("0 * * * *", { timeZone: "UTC" });
    await scheduler.addSchedule("tick", hourly, { id: "hourly", labels: { team: "billing" } });
    const { page, go, picture } = await open({ timezoneId: "UTC" });
    const text = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 16);
    await go("schedules/hourly");
    await page.getByRole("button", { name: "Until…" }).click();
    await page.getByLabel(/Until/).fill(text(48));
    await page.getByLabel("Why").fill("the warehouse moves");
    await page.getByRole("button", { name: "Pause it" }).click();
    await page.getByText(/by ada: the warehouse moves, until /).waitFor();
    expect(await scheduler.getSchedule("hourly")).toMatchObject({ paused: true, pauseReason: "the warehouse moves" });

    await page.getByRole("button", { name: "Backfill…" }).click();
    await page.getByLabel(/From/).fill(text(-5));
    await page.getByLabel(/Until/).fill(text(0));
    await page.getByLabel("Also those older than the records").check();
    await page.getByRole("button", { name: "Count them" }).click();
    await page.getByText("5 fire times would get a run. 0 ran, 0 were coalesced.").waitFor();
    expect((await scheduler.getRuns({ scheduleId: "hourly" })).items).toEqual([]);
    await picture("backfill");
    await page.getByRole("button", { name: "Add 5 runs" }).click();
    await page.getByText("5 runs added.").waitFor();
    await expect.poll(async () => (await scheduler.getRuns({ scheduleId: "hourly" })).items.length, WITHIN).toBe(5);

    await go("schedules");
    await page.getByRole("link", { name: "team:billing" }).click();
    await page.getByRole("button", { name: "label team:billing ×" }).waitFor();
    await expect.poll(() => page.getByRole("row").count(), WITHIN).toBe(2);
  });

  test("the dialogs of a schedule take times of its zone, which is not that of the browser", async () => {
    const nightly = CronTrigger.fromCrontab("30 0 * * *", { timeZone: "Europe/Berlin" });
    await scheduler.addSchedule("tick", nightly, { id: "berlin" });
    const { page, go, picture } = await open({ timezoneId: "America/New_York" });
    await go("schedules/berlin");
    await page.getByRole("button", { name: "Until…" }).click();
    await page.getByLabel("Until, in Europe/Berlin").fill("2099-07-01T09:00");
    await page.getByRole("button", { name: "Pause it" }).click();
    await page.getByText(/until .*2099 09:00/).waitFor();
    expect(String((await scheduler.getSchedule("berlin")).pausedUntil)).toBe("2099-07-01T07:00:00Z");
    await page.getByRole("button", { name: "Backfill…" }).click();
    await page.getByLabel("From, in Europe/Berlin").waitFor();
    await picture("berlin");
  });

  test("a paused task is seen wherever its schedules and runs are, by whom and why, and is unpaused there", async () => {
    await scheduler.addSchedule("tick", new IntervalTrigger({ hours: 1 }), { id: "held" });
    await scheduler.addSchedule("tick", YEARLY, { id: "keyed", concurrencyKey: "acme" });
    await scheduler.addSchedule("tick", YEARLY, { id: "own", paused: true });
    const ended = async () => (await scheduler.getRuns({ scheduleId: "held", state: "ended" })).items.length;
    await expect.poll(ended, WITHIN).toBe(1);
    await scheduler.pauseTask("tick", { by: "grace", reason: "the warehouse moves", until: "2099-07-01T09:00Z" });
    await scheduler.addSchedule("tick", new IntervalTrigger({ hours: 1 }), { id: "waits" });
    const isWaiting = async () => (await scheduler.getRuns({ scheduleId: "waits", state: "queued" })).items.length;
    await expect.poll(isWaiting, WITHIN).toBe(1);

    const { page, go, picture, violations } = await open({ timezoneId: "UTC" });
    const words = /task paused\s*by grace: the warehouse moves, until .*2099 09:00/;
    await go("schedules");
    await page.getByRole("row", { name: words }).filter({ hasText: "waits" }).waitFor();
    await page.getByRole("row", { name: words }).filter({ hasText: "keyed" }).waitFor();
    await page.getByRole("row", { name: /own.*paused/ }).waitFor();
    await picture("task-paused-list");
    await go("runs?show=waiting");
    await page.getByRole("row", { name: words }).filter({ hasText: "waits" }).waitFor();
    await picture("task-paused-runs");
    await go("schedules/waits");
    const head = page.locator(".toolbar.head");
    await head.getByText("task paused").waitFor();
    await head.getByText(/by grace: the warehouse moves, until /).waitFor();
    const fireTimes = page.getByRole("region", { name: "Fire times" });
    await fireTimes.getByText("waiting", { exact: true }).waitFor();
    expect(await page.locator(".o.running, .f.running").count()).toBe(0);
    expect(await page.getByText(/active|under way/).count()).toBe(0);
    await picture("task-paused");
    expect(await violations(["light", "dark"])).toEqual([]);
    await fireTimes.getByRole("link").first().click();
    await head.getByText("task paused").waitFor();
    await picture("task-paused-run");
    await go("schedules/held");
    await page
      .getByText("ran on time")
      .or(page.getByText(/^ran, .* late$/))
      .first()
      .waitFor();
    await go("schedules/own");
    await head.getByText("paused", { exact: true }).waitFor();
    await head.getByText("task paused").waitFor();
    await go("overview");
    await page.getByRole("region", { name: "Needs attention" }).getByText(words).waitFor();
    await page.getByRole("row", { name: /waits task paused/ }).waitFor();
    await picture("task-paused-overview");
    await go("schedules/waits");
    await head.getByRole("button", { name: "Unpause the task" }).click();
    await page.getByText("The task tick goes on.").waitFor();
    await head.getByText("active").waitFor();
    await page
      .getByText("ran on time")
      .or(page.getByText(/^ran, .* late$/))
      .waitFor();

    await scheduler.pauseTask("tick", { key: "acme", by: "ada" });
    await go("schedules");
    await page.getByRole("row", { name: /key acme paused\s*by ada/ }).waitFor();
    expect(await page.getByText(/task paused/).count()).toBe(0);
    await go("schedules/keyed");
    await head.getByRole("button", { name: "Unpause the key" }).click();
    await head.getByText("active").waitFor();
    expect((await scheduler.health()).pausedTasks).toEqual([]);
  });

  test("a run that has begun is under way, and one that has not waits", async () => {
    await scheduler.addSchedule("slow", new IntervalTrigger({ hours: 1 }), { id: "begun" });
    const { page, go } = await open();
    await go("schedules/begun");
    await page.getByRole("region", { name: "Fire times" }).getByText("under way", { exact: true }).waitFor();
    await go("tasks");
    await page.getByRole("heading", { name: "Tasks" }).waitFor();
    await scheduler.removeSchedule("begun");
    for await (const { id } of scheduler.getJobs({ taskId: "slow" })) await scheduler.cancelJob(id);
  });

  test("Runs and the page of a run show times in the zone of their schedule, and name it", async () => {
    const inTokyo = CronTrigger.fromCrontab("0 0 1 1 *", { timeZone: "Asia/Tokyo" });
    await scheduler.addSchedule("tick", inTokyo, { id: "tokyo" });
    const { id, runAt } = await scheduler.runScheduleNow("tokyo");
    await scheduler.runJob("tick");
    const time = (timeZone: string): string =>
      new Intl.DateTimeFormat("en-GB", { timeZone, timeStyle: "medium" }).format(runAt.epochMilliseconds);
    const { page, go, picture } = await open({ timezoneId: "America/New_York" });
    await go("runs");
    const row = page.getByRole("row").filter({ hasText: id });
    await row.getByText("Asia/Tokyo").waitFor();
    await row.getByText(time("Asia/Tokyo")).waitFor();
    await page.getByRole("row").filter({ hasNotText: "tokyo" }).getByText("America/New_York").first().waitFor();
    await picture("runs-zones");
    await go(`runs/${id}`);
    await page.getByRole("heading", { name: time("Asia/Tokyo") }).waitFor();
    await page.getByRole("region", { name: "What happened" }).getByText("Asia/Tokyo").waitFor();
    await picture("run-zone");
    await page.getByLabel("Show times in").first().selectOption("utc");
    await page.getByRole("heading", { name: time("UTC") }).waitFor();
    await page.getByLabel("Show times in").first().selectOption("schedule");
    await scheduler.removeSchedule("tokyo");
    await page.reload();
    await page.getByRole("heading", { name: time("America/New_York") }).waitFor();
  });

  test("a blackout is added and taken away", async () => {
    const { page, go, picture } = await open({ timezoneId: "UTC" });
    await go("system");
    await page.getByRole("button", { name: "Add blackout" }).click();
    await page.getByLabel("Id").fill("inventory");
    await page.getByLabel(/From/).fill("2040-01-01T00:00");
    await page.getByLabel(/Until/).fill("2040-01-02T00:00");
    await page.getByLabel("Only for these tasks").fill("tick, slow");
    await page.getByLabel("Why").fill("the shelves are counted");
    await page.getByRole("button", { name: "Add it" }).click();
    const blackout = page.getByRole("listitem").filter({ hasText: "inventory" });
    await blackout.getByText("Sun 1 Jan 2040 00:00 to Mon 2 Jan 2040 00:00; only tick, slow").waitFor();
    await picture("blackout");
    expect((await scheduler.getBlackouts()).map(({ id, reason }) => [id, reason])).toEqual([
      ["inventory", "the shelves are counted"],
    ]);
    await blackout.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await blackout.waitFor({ state: "detached" });
    expect(await scheduler.getBlackouts()).toEqual([]);

    await page.getByRole("button", { name: "Add blackout" }).click();
    await page.getByLabel("Id").fill("nightly");
    await page.getByRole("button", { name: "Again and again" }).click();
    await page.getByLabel("Begins").fill("0 25 * * *");
    await page.getByText(/Hour "25" is outside 0-23/).waitFor();
    await page.getByLabel("Begins").fill("0 22 * * sat");
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await page.getByText(/At 22:00, Saturday, in Europe.Berlin; next .* 22:00/).waitFor();
    await page.getByLabel("Lasts").fill("8h");
    await picture("blackout-recurring");
    await page.getByRole("button", { name: "Add it" }).click();
    const nightly = page.getByRole("listitem").filter({ hasText: "nightly" });
    await nightly.getByText("0 22 * * sat Europe/Berlin, for 8 h each time").waitFor();
    await nightly.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await nightly.waitFor({ state: "detached" });
  });

  test("without its server it says so, turns writing off, and goes on when the server is back", async () => {
    const { page, picture, complaints } = await open();
    await page
      .getByText(/needs? you|All is well|Nothing is scheduled/)
      .first()
      .waitFor();
    await site.stop();
    await page
      .getByRole("status")
      .filter({ hasText: /reconnecting|offline/ })
      .waitFor();
    await page.getByRole("alert").getByText("The server does not answer.").waitFor();
    await picture("gone");
    await site.start();
    await page.getByRole("button", { name: "Try now" }).click();
    await page
      .getByRole("status")
      .filter({ hasText: /live|every 5 s/ })
      .waitFor();
    // The browser writes down each request that found nobody.
    expect(complaints.filter((text) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(text))).toEqual([]);
    complaints.length = 0;
  });

  test("whatever a store holds is text", async () => {
    const trigger = CronTrigger.fromCrontab("0 9 1 1 *", { timeZone: "UTC" });
    const options = HOSTILE.map((text) => ({ id: text, name: text, payload: text, metadata: { text } }));
    await Promise.all(options.map((one) => scheduler.addSchedule("tick", trigger, one)));
    const jobs = await scheduler.addJobs(HOSTILE.map((payload) => ({ task: "echo", payload })));
    await Promise.all(jobs.map((job) => job.wait().catch(() => {})));
    const { page, go } = await open();
    await page.evaluate(() => {
      globalThis.alert = () => console.error("a store has scripted the page");
    });
    const some = jobs.filter((_, index) => index % 13 === 0).map(({ id }) => `runs/${id}`);
    for (const place of ["overview", "schedules", "runs", "runs?show=failed", "timeline", ...some]) {
      await go(place);
      await page.locator("main h1, main h2").first().waitFor();
      expect(await page.locator("main img, main script, main style, main math").count()).toBe(0);
    }
    for (const text of HOSTILE.filter((_, index) => index % 13 === 0)) {
      await go(`schedules/${encodeURIComponent(text)}`);
      await expect.poll(() => page.locator("h1").textContent(), WITHIN).toBe(text);
    }
  });

  test("keys move between pages and rows, and a phone has a bar of its own", async () => {
    await scheduler.addSchedule("tick", new IntervalTrigger({ hours: 1 }), { id: "hourly" });
    const { page, go } = await open();
    await page.getByRole("heading").first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("row", { name: /hourly/ }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "hourly" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 400, height: 800 });
    await go("schedules");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("link", { name: "System" }).click();
    await page.getByRole("heading", { name: "System" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400);
  });

  test("on a phone, lanes of the timeline have whole names above them", async () => {
    const id = "invoices/reminders-of-the-second-level";
    await scheduler.addSchedule("tick", new IntervalTrigger({ minutes: 20 }), { id });
    const { page, go, picture } = await open({ viewport: { width: 390, height: 844 } });
    await go("timeline");
    const lane = page.getByRole("region", { name: "Lanes" }).getByRole("link", { name: id, exact: true });
    const name = lane.locator("text");
    await expect.poll(() => name.textContent(), WITHIN).toBe(id);
    await picture("timeline-phone");
    const words = await name.boundingBox();
    const bar = await page.locator(`a[aria-label^="${id}: "] rect`).first().boundingBox();
    if (words === null || bar === null) throw new Error("a lane has a name and bars");
    expect([words.x >= 0, words.x + words.width <= 390, words.y + words.height <= bar.y]).toEqual([true, true, true]);
  });

  test("ten thousand schedules scroll, with a bounded number of rows in the page", async () => {
    const trigger = CronTrigger.fromCrontab("0 0 * * *", { timeZone: "UTC" });
    const many = Array.from({ length: 9999 }, (_, index) => ({
      task: "tick",
      trigger,
      options: { id: `tenant/${String(index).padStart(5, "0")}/rollup` },
    }));
    for (let start = 0; start < many.length; start += 1000) {
      await Promise.all(
        many.slice(start, start + 1000).map(({ task, options }) => scheduler.addSchedule(task, trigger, options)),
      );
    }
    const { page, go } = await open();
    await go("schedules?sort=id");
    await page.getByRole("row", { name: /tenant\/00000\/rollup/ }).waitFor();
    const lastShown = async (): Promise<string> => (await page.locator("tbody tr a").last().textContent()) ?? "";
    let most = 0;
    for (const goal of ["tenant/00150", "tenant/00350", "tenant/00950"]) {
      await expect
        .poll(async () => {
          await page.mouse.wheel(0, 3000);
          most = Math.max(most, await page.locator("tbody tr").count());
          return (await lastShown()) > goal;
        }, WITHIN)
        .toBe(true);
    }
    const frames = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const times: number[] = [];
          const step = (at: number): void => {
            times.push(at);
            scrollBy(0, -120);
            if (times.length < 60) requestAnimationFrame(step);
            else resolve(59_000 / (at - (times[0] ?? 0)));
          };
          requestAnimationFrame(step);
        }),
    );
    console.log(`10,000 schedules scroll at ${frames.toFixed(0)} frames a second, with ${most} rows at most`);
    expect(most).toBeLessThan(200);
    await page.getByLabel("Select all that are shown").check();
    await page.getByRole("button", { name: /^All 1,00\d\+$/ }).waitFor();
    await page.getByRole("button", { name: "Select all 1,000+ that match" }).click();
    await page.getByText("10,000 selected").waitFor();
    await page.getByRole("button", { name: "Pause selected", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Pause 10,000 schedules" }).click();
    await page.getByText("10,000 schedules paused.").waitFor();
    await page.getByRole("searchbox").fill("09998");
    await page.getByRole("row", { name: /tenant\/09998\/rollup/ }).waitFor();
    expect((await scheduler.getSchedule("tenant/09998/rollup")).paused).toBe(true);
  });
});
