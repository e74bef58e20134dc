import { describe, expect, test } from "vitest";
import { VirtualClock } from "../../src/testing/mod.ts";
import { call, folderWith } from "./support.ts";

const OWN = "cron itself does not take this rule: it is read as escapement crontab does";

interface Found {
  readonly schedules: readonly {
    readonly id: string;
    readonly taskId: string;
    readonly description: string;
    readonly settings: object;
    readonly next: string | null;
  }[];
  readonly problems: readonly { readonly where: string; readonly message: string }[];
}

async function dryRun(name: string, text: string, ...more: string[]): Promise<Found & { code: number }> {
  await using folder = await folderWith({ [name]: text });
  const { code, out } = await call(["import", name, "--dry-run", "--tz", "UTC", "--json", ...more], {
    cwd: folder.path,
  });
  return { code, ...(JSON.parse(out.join("\n")) as Found) };
}

test.each([["import", "--dry-run"], ["forecast"]])("%s of very many lines ends at a signal", async (...argv) => {
  const first = new AbortController();
  const end = Object.assign(new VirtualClock("2027-01-01T00:00:00Z"), {
    // The first pause in the work is when a signal is seen.
    yield: async () => first.abort(),
  });
  const signals = { first: first.signal, second: first.signal, isInterrupted: true, onHangUp: () => () => {} };
  const input = Array.from({ length: 1000 }, (_, line) => `${line % 60} 1 * * * job${line}\n`).join("");
  const { code, out } = await call([...argv, "-"], { input, clock: end, signals });
  expect([code, out.length < 1000]).toEqual([130, true]);
  expect(out.join("\n")).not.toMatch(/Busiest|job999/);
});

describe("escapement import --dry-run", () => {
  test("shows the schedules of a crontab", async () => {
    await using folder = await folderWith({
      crontab: "CRON_TZ=Europe/Berlin\n30 2 * * * /opt/backup.sh --all # nightly\n",
    });
    expect(await call(["import", "crontab", "--dry-run"], { cwd: folder.path })).toEqual({
      code: 0,
      out: [
        expect.stringMatching(/^backup-[0-9a-f]{8} {2}line 2: 30 2 \* \* \*$/),
        "  At 02:30, in Europe/Berlin",
        "  task backup, next Fri 2027-01-01 02:30 +01:00",
        "  runs: /opt/backup.sh --all # nightly",
      ],
      err: ["1 schedule would be added"],
    });
  });

  test("keeps the id of a line while its command stays, and tells equal lines apart", async () => {
    const ids = async (text: string) => (await dryRun("crontab", text)).schedules.map(({ id }) => id);
    const [first] = await ids("0 1 * * * backup\n");
    expect(await ids("# moved\n5 4 * * mon backup\n0 1 * * * other\n")).toContain(first);
    expect(await ids("0 1 * * * backup\n0 2 * * * backup\n")).toEqual([first, `${first}-2`]);
  });

  test("takes CronJobs of Kubernetes over, and says what it cannot", async () => {
    const text = `apiVersion: batch/v1
kind: CronJob
metadata: { name: backup, namespace: prod }
spec:
  schedule: "0 3 * * *"
  timeZone: Europe/Berlin
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 200
  suspend: true
---
apiVersion: v1
kind: List
items:
  - kind: CronJob
    metadata: { name: poll }
    spec: { schedule: "*/5 * * * *", concurrencyPolicy: Replace }
  - kind: CronJob
    metadata: { name: broken }
    spec: { schedule: "every day" }
---
kind: Deployment
`;
    const { code, schedules, problems } = await dryRun("jobs.yaml", text);
    expect(schedules).toMatchObject([
      {
        id: "prod/backup",
        taskId: "backup",
        description: "At 03:00, in Europe/Berlin",
        settings: { paused: true, overlap: "skip", misfireGraceTime: "200s" },
      },
      { id: "poll", settings: { overlap: "cancelRunning" }, description: "Every 5 minutes, in UTC" },
    ]);
    expect([code, problems.map(({ where }) => where)]).toEqual([2, ["CronJob broken"]]);
  });

  test("takes schedules of GitHub's workflows over", async () => {
    const text = "name: Nightly build\non:\n  push:\n  schedule:\n    - cron: '0 4 * * 1-5'\n    - cron: '* * * * *'\n";
    const { code, schedules } = await dryRun("build.yml", text);
    expect([code, schedules]).toMatchObject([
      0,
      [
        { id: "nightly-build", description: "At 04:00, Monday to Friday, in UTC" },
        { id: "nightly-build-2", notes: ["GitHub runs it every 5 minutes at most"] },
      ],
    ]);
  });

  test.each([
    ...["@daily", "0 0 L * *", "0 0 1W * *", "0 0 * * 7", "0 0 0 * * 1", "H 3 * * *", "*/90 * * * *"],
    ...["TZ=Europe/Berlin 0 9 * * *", "0 0 ? * 1", "0 0 * * fri#2", "0 0 * * 1-7", "@reboot"],
  ])("tells that GitHub does not take %j", async (cron) => {
    const text = JSON.stringify({ on: { schedule: [{ cron }, { cron: "0 4 * * SUN,1-5/2" }] } });
    const { schedules, problems } = await dryRun("build.yml", text, "--from", "github");
    expect([schedules.length, problems.length]).toEqual([1, 1]);
  });

  test.each(["0 0 */2 * 1", "0 0 1 * */2"])("says of %j what GitHub does not say", async (cron) => {
    const text = JSON.stringify({ on: { schedule: [{ cron }] } });
    const { schedules } = await dryRun("build.yml", text, "--from", "github");
    expect(schedules).toMatchObject([{ notes: [expect.stringContaining("either or both")] }]);
  });

  test.each([
    ["one on one line", '{"kind":"CronJob","metadata":{"name":"a"},"spec":{"schedule":"0 3 * * *"}}'],
    [
      "a list as the server gives it",
      '{"kind":"CronJobList","items":[{"metadata":{"name":"a"},"spec":{"schedule":"0 3 * * *"}}]}',
    ],
    [
      "a list on one line",
      '{"apiVersion":"v1","kind":"List","items":[{"kind":"CronJob","metadata":{"name":"a"},"spec":{"schedule":"0 3 * * *"}}]}',
    ],
    [
      "items of a list",
      "items:\n- kind: CronJob\n  metadata: { name: a }\n  spec: { schedule: '0 3 * * *' }\nkind: List\n",
    ],
  ])("knows CronJobs by their look: %s", async (_, text) => {
    const { code, schedules } = await dryRun("file", text);
    expect([code, schedules.map(({ id }) => id)]).toEqual([0, ["a"]]);
  });

  test.each([
    ["@every +1h", "Every hour, first after one period"],
    ["@every -5m", "Every second, first after one period"],
    ["@every 0", "Every second, first after one period"],
    ["@every 1h-5m", null],
    ["CRON_TZ=UTC 0 9 * * *", null],
  ])("reads %j of a CronJob with a time zone as Kubernetes does", async (schedule, description) => {
    const spec = { schedule, timeZone: "Europe/Berlin" };
    const { schedules, problems } = await dryRun("file", JSON.stringify({ kind: "CronJob", spec }));
    expect([schedules.map((one) => one.description), problems.length]).toEqual(
      description === null ? [[], 1] : [[description], 0],
    );
  });

  test.each(['{"queue":"q","schedulers":[]}', '{\n "schedules": []\n}', '[{"_id":"1","name":"a"}]'])(
    "asks whose JSON it is: %s",
    async (text) => {
      await using folder = await folderWith({ file: text });
      const { code, err } = await call(["import", "file", "--dry-run"], { cwd: folder.path });
      expect([code, err]).toEqual([2, ["error: the file is JSON of one of several systems: say which by --from"]]);
    },
  );

  test.each([
    ["daily", "At 00:00, in UTC"],
    ["Mon..Fri *-*-* 09:00:00", "At 09:00, Monday to Friday, in UTC"],
    ["Mon,Thu 10:00 Europe/Berlin", "At 10:00, Monday and Thursday, in Europe/Berlin"],
    ["*-*-1..7 12:30", "At 12:30, on days 1 to 7 of the month, in UTC"],
    ["*-01,07-01", "At 00:00, on day 1 of the month, in January and July, in UTC"],
    ["*:0/15", "Every 15 minutes, in UTC"],
    ["*-*~01 23:00", "At 23:00, on the last day of the month, in UTC"],
    ["Mon *-05~07/1", "At 00:00, on the last Monday of the month, in May, in UTC"],
    ["Fri *-*-13", "At 00:00, on day 13 of the month if it is Friday, in UTC"],
    ["2030-12-24 18:00", "At 18:00, on 24 December, in 2030, in UTC"],
  ])("reads OnCalendar=%s of systemd", async (text, description) => {
    const { schedules, problems } = await dryRun("a.timer", `[Timer]\nOnCalendar=${text}\nPersistent=true\n`);
    expect([schedules.map((one) => one.description), problems]).toEqual([[description], []]);
  });

  test("says which parts of a timer do not map", async () => {
    const timer =
      "[Timer]\nUnit=job.service\nOnBootSec=5min\nOnUnitActiveSec=1h 30min\nOnCalendar=*:0:0.5\nRandomizedDelaySec=90\n";
    const { code, schedules, problems } = await dryRun("a.timer", timer);
    expect(schedules).toMatchObject([
      { id: "job", description: "Every 1 hour and 30 minutes", settings: { maxJitter: "90s" } },
    ]);
    expect([code, problems.map(({ where }) => where)]).toEqual([2, ["line 3", "line 5"]]);
  });

  test.each([
    [
      "YAML that grows",
      "x.yaml",
      `a: &a [${"x,".repeat(50)}]\nb: &b [${"*a,".repeat(50)}]\nc: &c [${"*b,".repeat(50)}]\nkind: CronJob\nd: [${"*c,".repeat(50)}]\n`,
    ],
    ["YAML that is none", "x.yaml", "kind: CronJob\n  bad: [\n"],
    ["a template of Helm", "x.yaml", "kind: CronJob\nmetadata: {{ include }}\n"],
    ["a workflow without a schedule", "w.yml", "name: x\non: push\njobs: {}\n"],
    ["a schedule that is a number", "k.yaml", "kind: CronJob\nmetadata: { name: 5 }\nspec: { schedule: 5 }\n"],
    ["bytes", "crontab", "\u0000\u0001\u0002 \ufffd\n"],
  ])("refuses %s with 2", async (_, name, text) => {
    const { code, problems } = await dryRun(name, text);
    expect([code, problems.length > 0]).toEqual([2, true]);
  });

  const staircase = Array.from({ length: 300 }, (_, depth) => " ".repeat(depth).concat("a:")).join("\n");
  const tooLarge: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    [
      "many characters",
      `kind: CronJob\nnote: ${"x".repeat(500_000)}\n`,
      /^has 500\d+ characters, and YAML is read up to/,
    ],
    ["many documents", "a: 1\n---\n".repeat(10_001), /^has 10001 documents/],
    ["deep brackets", "a: ".concat("[".repeat(100_000)), /^nests deeper than 200 levels/],
    ["deep maps in brackets", "{a: ".repeat(201), /^nests deeper than 200 levels/],
    ["deep lists in one line", "- ".repeat(4000).concat("a"), /^nests deeper than 200 levels/],
    ["a deep staircase", staircase, /^nests deeper/],
  ];

  test.each(tooLarge)("refuses YAML of %s before it is parsed", async (_, text, message) => {
    for (const system of ["kubernetes", "github"]) {
      const { code, problems } = await dryRun("x.yaml", text, "--from", system);
      expect([code, problems.map(({ where }) => where)]).toEqual([2, ["the file"]]);
      expect(problems[0]?.message).toMatch(message);
    }
  });

  test("refuses YAML with thousands of aliases of different anchors before they are followed", async () => {
    const pairs = Array.from({ length: 1001 }, (_, pair) => `- &a${pair} x\n- *a${pair}\n`);
    const { code, problems } = await dryRun("x.yaml", `kind: CronJob\nnote:\n${pairs.join("")}`);
    expect([code, problems]).toEqual([2, [{ where: "document 1", message: "is no YAML: more than 1000 aliases" }]]);
    const fine = 'kind: CronJob\nmetadata: { name: a }\nspec: { schedule: "0 3 * * *" }\nnote:\n';
    const { schedules } = await dryRun("y.yaml", fine.concat(pairs.slice(1).join("")));
    expect(schedules).toHaveLength(1);
  });

  test("refuses YAML with keys within keys, whose text grows with each", async () => {
    const { code, problems } = await dryRun("x.yaml", `kind: CronJob\nnote:\n  ${"? ".repeat(100)}{ a: 1 }\n`);
    expect([code, problems]).toEqual([2, [{ where: "document 1", message: "is no YAML: a key is no text" }]]);
  });

  test("names the line of the first of very many faults in YAML", async () => {
    const { problems } = await dryRun("x.yaml", `kind: CronJob\nnote: ${"&a ".repeat(10_000)}x\n`);
    const message = "is no YAML: A node can have at most one anchor at line 2";
    expect(problems).toEqual([{ where: "document 1", message }]);
  });

  test("reads a map of thousands of keys, and tells of one that comes twice", async () => {
    const keys = Array.from({ length: 20_000 }, (_, key) => `  k${key}: 1`).join("\n");
    const job = `kind: CronJob\nmetadata: { name: a }\nspec: { schedule: "0 3 * * *" }\ndata:\n${keys}\n`;
    const { schedules, problems } = await dryRun("x.yaml", `${job}---\n${job}  k7: 2\n`);
    expect([schedules.length, problems]).toEqual([
      1,
      [{ where: "document 2", message: "is no YAML: Map keys must be unique: k7" }],
    ]);
  });

  test("takes each CronJob of a list once, in a list that is within itself too", async () => {
    const job = '{ kind: CronJob, metadata: { name: backup }, spec: { schedule: "0 3 * * *" } }';
    const { code, schedules } = await dryRun("list.yaml", `kind: List\nitems: &all [${job}, { items: *all }]\n`);
    expect([code, schedules.map(({ id }) => id)]).toEqual([0, ["backup"]]);
  });

  test.each([
    ["crontab", "0 3 * * * backup\n@reboot warm-up\n61 * * * * never\nnothing\n", 1, 3],
    ["jobs.yaml", 'kind: CronJob\nmetadata: { name: a }\nspec: { schedule: "H 3 * * *" }\n---\nkind: [\n', 0, 2],
    [
      "late.yaml",
      'kind: List\nitems: [{ kind: CronJob, metadata: { name: a }, spec: { schedule: "0 3 * * *" } }, ' +
        '{ kind: CronJob, metadata: { name: b }, spec: { schedule: "0 3 * * *", startingDeadlineSeconds: 1.0e+15 } }]\n',
      ...([1, 1] as const),
    ],
    ["a.timer", "[Timer]\nOnBootSec=15min\nOnUnitActiveSec=1d\nOnCalendar=*:0:0.5\n", 1, 2],
    ["build.yml", "on:\n  schedule:\n    - cron: '0 4 * * *'\n    - cron: 'now'\n    - {}\n", 1, 2],
    ["fine", "0 3 * * * backup\n", 1, 0],
  ])("adds of %s what can be read, and tells the rest as a dry run does", async (name, text, added, told) => {
    await using folder = await folderWith({ [name]: text });
    const argv = ["import", name, "--tz", "UTC", "--store", "file:jobs.db"];
    const dry = await call([...argv, "--dry-run"], { cwd: folder.path });
    const real = await call(argv, { cwd: folder.path });
    const errors = (lines: readonly string[]) => lines.filter((line) => line.startsWith("error: "));
    expect([errors(real.err).length, errors(real.err), real.code]).toEqual([told, errors(dry.err), dry.code]);
    if (added === 0) return expect(real.err.at(-1)).toBe("nothing was added");
    const { out } = await call(["list", "--store", "file:jobs.db", "--json"], { cwd: folder.path });
    expect((JSON.parse(out.join("\n")) as { items: object[] }).items.length).toBe(added);
    const again = await call([...argv, "--json"], { cwd: folder.path });
    expect((JSON.parse(again.out.join("\n")) as { problems: object[] }).problems.length).toBe(told);
  });

  test("reads timers as systemd does: resets, spaces, long lines, several units, and the last value of each", async () => {
    const timers = `# /usr/lib/systemd/system/fstrim.timer
[Unit]
Description=Discard unused blocks once a week
OnCalendar=hourly

[Timer]
OnCalendar=weekly
OnBootSec=5min
RandomizedDelaySec=6000
Persistent=no

# /etc/systemd/system/fstrim.timer.d/override.conf
[Timer]
OnCalendar=
OnCalendar = Sat *-*-* 04:00
Persistent = true
RandomizedDelaySec=1.5h

# /etc/systemd/system/other.timer
; a comment
[Timer]
OnCalendar=Mon \\
  # within it
  12:00 Asia/Tokyo
OnUnitActiveSec=1w 12h
OnUnitInactiveSec=1M
OnClockChange=no
oncalendar=daily

[Install]
OnCalendar=daily
`;
    const { code, schedules } = await dryRun("all.timer", timers);
    expect([code, schedules.map(({ id, description, settings }) => [id, description, settings])]).toEqual([
      0,
      [
        ["fstrim", "At 04:00, Saturday, in UTC", { maxJitter: "5400s" }],
        ["other", "At 12:00, Monday, in Asia/Tokyo", {}],
        ["other-2", "Every 7 days and 12 hours", {}],
        ["other-3", "Every 30 days, 10 hours and 30 minutes", {}],
      ],
    ]);
  });

  test("a rule of a crontab that cron does not take is read as our own, and that is told", async () => {
    const { code, schedules } = await dryRun("crontab", "0 0 L * * close\n*/90 * * * * often\n");
    expect([code, schedules]).toMatchObject([
      0,
      [
        { description: "At 00:00, on the last day of the month, in UTC", notes: [expect.any(String), OWN] },
        { description: "Every hour, in UTC", notes: ["runs: often"] },
      ],
    ]);
  });

  test("refuses a system that nobody knows", async () => {
    await using folder = await folderWith({ crontab: "" });
    const { code, err } = await call(["import", "crontab", "--from", "jenkins"], { cwd: folder.path });
    expect([code, err]).toEqual([
      2,
      [
        "error: --from is one of crontab, kubernetes, github, systemd, pgboss, bullmq, agenda, apscheduler3, " +
          'apscheduler4, export; got "jenkins"',
      ],
    ]);
  });
});

describe("escapement forecast FILE", () => {
  test("tells the busiest minute, and the load of each hour", async () => {
    await using folder = await folderWith({ crontab: "0 * * * * a\n0 3 * * * b\n*/30 3 * * * c\n@reboot d\n" });
    const { code, out } = await call(["forecast", "crontab", "--tz", "UTC", "--for", "5h"], { cwd: folder.path });
    expect([code, out]).toEqual([
      0,
      [
        "Busiest: 2027-01-01 03:00 UTC, 3 fires in one minute, of 8 in all. 2027-01-01 03:01 UTC has 0 fires.",
        "  2027-01-01 00:00  1  ##########",
        "  2027-01-01 01:00  1  ##########",
        "  2027-01-01 02:00  1  ##########",
        "  2027-01-01 03:00  4  ########################################",
        "  2027-01-01 04:00  1  ##########",
      ],
    ]);
  });
});
