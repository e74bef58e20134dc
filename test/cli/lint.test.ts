import { existsSync, readdirSync, readFileSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemOption } from "../../src/cli/rules.ts";
import { parseCrontab } from "../../src/cron/parse.ts";
import { CronTrigger } from "../../src/cron.ts";
import { parseCrontab as parseCrontabFile } from "../../src/crontab/parse-crontab.ts";
import { oracleNext } from "../cron/oracle.ts";
import { ROOT } from "../package/stage.ts";
import { call, folderWith, ioWith } from "./support.ts";

const CRONTAB = `SHELL=/bin/sh
# m h dom mon dow command
0 0 30 2 * /bin/never
CRON_TZ=Europe/Berlin
0 9 13 * fri /usr/bin/report --all
@reboot /bin/start
@daily backup.sh
*/7 * * * * poll
30 2 * * * /opt/nightly.sh
* 3 * * * oops
0 1 * * * date +%Y
61 * * * * foo
2 30 * * * swapped
hello
0 0 31 * * month-end
0 0 29 2 * leap
@daily backup.sh
`;

/** What is found in the lines of public crontabs, by severity and rule. */
const FINDINGS_OF_PUBLIC_LINES: Readonly<Record<string, number>> = {
  "error never": 3,
  "error syntax": 55,
  "note clockChange": 33,
  "note herd": 1,
  "note leapYears": 15,
  "note reboot": 1,
  "note shortMonths": 2,
  "warning clockChange": 6,
  "warning dayOrWeekday": 42,
  "warning everyMinute": 6,
  "warning lineBreak": 1,
  "warning percent": 1,
  "warning sixFields": 5,
  "warning uneven": 64,
  "warning user": 44,
};

describe("escapement lint", () => {
  test("finds what a crontab says and does not mean", async () => {
    await using folder = await folderWith({ crontab: CRONTAB });
    expect(await call(["lint", "crontab", "--tz", "UTC"], { cwd: folder.path })).toEqual({
      code: 1,
      out: [
        "crontab:3:1   error    0 0 30 2 *    never fires: no month matches day 30; write L for the last day",
        "crontab:5:1   warning  0 9 13 * fri  fires on day 13 OR Friday (crontab's rule)",
        "crontab:6     note     @reboot       has no fire times: it runs once, when the program that runs the crontab starts",
        "crontab:8:1   warning  */7 * * * *   uneven: 4 minutes between :56 and :00",
        "crontab:9     note     30 2 * * *    in Europe/Berlin: moves to 03:00 on 28 Mar 2027",
        "crontab:10:1  warning  * 3 * * *     fires 60 times, each minute from 03:00 on; write 0 as the minute for once",
        "crontab:11:1  warning  0 1 * * *     has a %, which ends the command; write \\% for a percent sign",
        'crontab:12:1  error    61 * * * *    minute "61" is outside 0-59; minute takes 0-59, and ranges, steps and lists of them',
        'crontab:13:1  error    2 30 * * *    hour "30" is outside 0-23; the order is minute hour day month weekday; did you mean 30 2 * * *?',
        "crontab:14:1  error    hello         is no line of a crontab: it takes five fields (or a nickname) and a command",
        "crontab:15    note     0 0 31 * *    does not fire in 5 months; write L for the last day of each month",
        "crontab:16    note     0 0 29 2 *    fires in leap years alone",
        "crontab:17:1  warning  @daily        is line 7 once more, so the command runs twice",
      ],
      err: ["13 rules: 4 errors, 5 warnings, 4 notes"],
    });
  });

  test.each([
    ["*/5 * * * *", []],
    ["0 */5 * * *", ["uneven: 4 hours between 20:00 and 00:00"]],
    ["0 0 */2 * *", ["uneven: begins anew with each month, so day 31 is followed by day 1"]],
    ["0 0 1 */5 *", ["uneven: 2 months between month 11 and month 1"]],
    ["0 0 * * */2", ["uneven: 1 day between Saturday and Sunday"]],
    ["0 0 */2 * fri", ["uneven: begins anew with each month, so day 31 is followed by day 1"]],
    ["0 9 1,15 * mon-fri", ["fires on days 1 and 15 OR Monday to Friday (crontab's rule)"]],
    ["0 0 30 * *", ["does not fire in February; write L for the last day of each month"]],
    ["0 0 L * *", []],
    ["0 12 * * *", []],
    [
      "* * * */12 *",
      ['month "*/12" has a step larger than its range of 11; write "1" for that value alone; did you mean 1?'],
    ],
  ])("says of %s: %j", async (rule, messages) => {
    const { out } = await call(["lint", "--cron", rule, "--json"]);
    expect(JSON.parse(out.join("\n")).findings.map(({ message }: { message: string }) => message)).toEqual(messages);
  });

  test.each([
    ["0 9 1 * +fri", []],
    ["0 9 1 * +fri", [], "ocps"],
    ["0 9 */2 * fri", ["fires on every 2nd day from 1 to 31 OR Friday (crontab's rule)"], "ocps"],
    ["0 9 10-12/30 * fri", ["fires on day 10 OR Friday (crontab's rule)"], "vixie"],
    ["0 0 31 2 *", ["never fires: no date matches"], "ocps"],
    ["0 0 12 ? * 2", [], "quartz"],
    ["0 9 * * ?", ['dayOfWeek "?" cannot be read as "vixie"; it takes 5 fields, steps */n and a-b/n'], "vixie"],
  ])("says of %s: %j, read as %s", async (rule, messages, dialect = "") => {
    const { out } = await call(["lint", "--cron", rule, "--json", ...(dialect === "" ? [] : ["--dialect", dialect])]);
    const found = JSON.parse(out.join("\n")).findings.map(({ message }: { message: string }) => message);
    expect(found.filter((message: string) => !message.startsWith("uneven"))).toEqual(messages);
  });

  test.each([
    ["30 2 * * *", ["in Europe/Berlin: moves to 03:00 on 28 Mar 2027"]],
    ["*/30 2 * * *", ["in Europe/Berlin: moves to 03:00 on 28 Mar 2027"]],
    ["15 * * * *", []],
    ["0 12 * * *", []],
  ])("says of %s what clocks do: %j", async (rule, messages) => {
    const { out } = await call(["lint", "--cron", rule, "--tz", "Europe/Berlin", "--json"]);
    expect(JSON.parse(out.join("\n")).findings.map(({ message }: { message: string }) => message)).toEqual(messages);
  });

  test("tells a herd, lines that Windows or an editor broke, and zones that nobody knows", async () => {
    const herd = Array.from({ length: 7 }, (_, index) => `0 4 * * * job${index}\n`).join("");
    await using folder = await folderWith({
      herd,
      windows: "0 4 * * * a\r\n5 4 * * * b",
      zone: "TZ=UTC\nCRON_TZ=Mars/Base\n0 4 * * * a\n",
    });
    const at = { cwd: folder.path };
    const same = await call(["lint", "-", "--tz", "UTC"], { input: "* * * * * same\n".repeat(2000) });
    expect(same.out[0]).toContain("herd: 2000 lines fire at 00:00 UTC (lines 1, 2, 3, 4, 5, 6, ...)");
    expect((await call(["lint", "herd", "--tz", "UTC"], at)).out).toEqual([
      "herd:1  note  0 4 * * *  herd: 7 lines fire at 04:00 UTC (lines 1, 2, 3, 4, 5, 6, ...); spread their minutes",
    ]);
    expect((await call(["lint", "windows", "--tz", "UTC"], at)).out.map((line) => line.split("  ").at(-1))).toEqual([
      "ends with a carriage return, which cron hands to the command; save the file with Unix line breaks",
      "has no line break at its end, so cron ignores it",
    ]);
    const zone = await call(["lint", "zone"], at);
    expect([zone.code, zone.out[0]]).toEqual([1, expect.stringContaining("Mars/Base")]);
  });

  test.each([
    ["a system's", "17 * * * * root cd / && run-parts /etc/cron.hourly\n25 6 * * * root run-parts /etc/cron.daily\n"],
    ["a user's", '*/5 * * * * git -C /srv/www pull\n0 3 * * * mysql -e "CALL cleanup()"\n'],
    ["nicknames and variables", "MAILTO=me\n@daily backup --all\n@reboot mail -s up me\n"],
    ["tabs and one line", "0\t3 * * *\tman -k x\n"],
  ])("refuses a crontab of which nobody can tell whose it is, until it is told: %s", async (_, input) => {
    const { code, out } = await call(["lint", "-", "--tz", "UTC"], { input });
    expect([code, out.length, out[0]]).toEqual([
      1,
      1,
      expect.stringMatching(/ error .*say which by --system or --user$/),
    ]);
    for (const argv of [
      ["forecast", "-"],
      ["crontab", "-"],
      ["import", "-", "--from", "crontab"],
    ]) {
      const refused = await call([...argv, "--tz", "UTC"], { input });
      expect([refused.code, refused.err.join("\n")]).toEqual([2, expect.stringContaining("--system or --user")]);
    }
    for (const option of ["--system", "--user"]) {
      const told = await call(["lint", "-", option, "--tz", "UTC"], { input });
      expect(told.out.join("\n")).not.toContain("--system");
    }
  });

  test("takes a crontab for a user's, whatever its words, and warns of lines that could be read as either", async () => {
    const input = "0 3 * * * mail -s report me\n0 4 * * * backup.sh\n0 5 * * * git\n@daily root run-parts /x\n";
    const rows = await call(["lint", "-", "--tz", "UTC", "--json"], { input });
    const { findings } = JSON.parse(rows.out.join("\n")) as { findings: { rule: string; line: number }[] };
    expect(findings).toEqual([
      expect.objectContaining({ line: 1, severity: "warning", rule: "user", expression: "mail" }),
      expect.objectContaining({ line: 4, severity: "warning", rule: "user", expression: "root" }),
    ]);
    const read = await call(["import", "-", "--dry-run", "--from", "crontab", "--tz", "UTC"], { input });
    expect(read.out.join("\n")).toContain("runs: mail -s report me");
    expect((await call(["lint", "-", "--user"], { input: "0 3 * * * mail me\n" })).code).toBe(0);
    expect((await call(["lint", "-", "--user", "--system"], { input })).err[0]).toContain("exclude each other");
    const told = await call(["lint", "-", "--system", "--tz", "UTC"], { input: "0 1 * * * justacommand\n" });
    expect(told.out[0]).toContain("a user and a command");
  });

  test.each([
    ["/etc/crontab", "/", true],
    ["crontab", "/etc", true],
    ["/etc/cron.d/site", "/", true],
    ["/etc/../etc/cron.d/site", "/", true],
    ["/etc/crontabs/root", "/", undefined],
    ["/etc/crontab.bak", "/", undefined],
    ["/srv/etc/crontab", "/", undefined],
    ["-", "/etc", undefined],
  ])("takes %s in %s for a system's by its path alone: %s", (path, cwd, isSystem) => {
    const asked = (options: Record<string, boolean>) => systemOption({ options, io: ioWith({ cwd }) }, path);
    expect([asked({}), asked({ system: true }), asked({ user: true })]).toEqual([isSystem, true, false]);
  });

  test("takes a link to a system's crontab for one", async ({ skip }) => {
    const crontabs = existsSync("/etc/cron.d") ? readdirSync("/etc/cron.d").map((name) => `cron.d/${name}`) : [];
    const [name] = [...crontabs, "crontab"].filter((one) => existsSync(`/etc/${one}`));
    if (name === undefined) return skip("this machine has no crontab of the system");
    await using folder = await folderWith({});
    await symlink(`/etc/${name}`, join(folder.path, "link"));
    await symlink("/etc/crontabs-of-nobody", join(folder.path, "dangling"));
    const asked = (path: string) => systemOption({ options: {}, io: ioWith({ cwd: folder.path }) }, path);
    expect([asked("link"), asked("dangling")]).toEqual([true, undefined]);
  });

  test.each([
    [["lint", "--cron", "0 3 * * *", "--system"], /^error: --system does not go with --cron/],
    [["lint", "crontab", "--cron", "0 3 * * *"], /^error: --cron takes the place of a file/],
    [["import", "a.timer", "--user"], /^error: --user does not go with anything but a crontab/],
    [["import", "store.jsonl", "--tz", "UTC"], /^error: --tz does not go with an export/],
    [["import", "store.jsonl", "--task", "a"], /^error: --task does not go with an export/],
  ] as const)("refuses options that do not apply: %j", async (argv, message) => {
    const files = { crontab: "", "a.timer": "OnCalendar=daily\n", "store.jsonl": '{"escapement":"store"}\n' };
    await using folder = await folderWith(files);
    const { code, err } = await call(argv, { cwd: folder.path });
    expect([code, err.join("\n")]).toEqual([2, expect.stringMatching(message)]);
  });

  test.each(['CRON_TZ=""', "CRON_TZ=''", "CRON_TZ=", 'CRON_TZ = " "'])("takes %s for the machine's zone", (row) => {
    const zones = parseCrontabFile(`CRON_TZ=Europe/Berlin\n0 3 * * * a\n${row}\n0 3 * * * b\n`).entries;
    expect(zones.map(({ timeZone }) => timeZone)).toEqual(["Europe/Berlin", null]);
  });

  test("ends with 0 without a finding, and with 2 without a file", async () => {
    expect((await call(["lint", "-", "--tz", "UTC"], { input: "0 12 * * * noon\n" })).code).toBe(0);
    expect((await call(["lint", "-", "--tz", "UTC"], { input: "" })).code).toBe(0);
    expect(await call(["lint", "no-such-file"])).toEqual({
      code: 2,
      out: [],
      err: ["error: no-such-file does not exist"],
    });
    expect((await call(["lint"])).code).toBe(2);
    await using folder = await folderWith({ large: " ".repeat(8_000_001) });
    await symlink("loop", join(folder.path, "loop"));
    for (const [name, message] of [
      [".", ". is a folder, and no file"],
      ["/dev/zero", "/dev/zero is a device, and no file"],
      ["loop", "loop is a link to itself"],
      ["large", "large has more than 8 MB"],
    ] as const) {
      const { code, err } = await call(["lint", name], { cwd: folder.path });
      expect([code, err]).toEqual([2, [`error: ${message}`]]);
    }
    const input = " ".repeat(8_000_001);
    expect((await call(["lint", "-"], { input })).err).toEqual(["error: the standard input has more than 8 MB"]);
  });

  test("hands no control character of a file to the terminal", async () => {
    const hostile = "\u001b]0;owned\u0007 \u009b2J * * x\n* * * * * \u001b[2J\n5 \u202e * * * x\n\u0000 * * * * y\n";
    for (const json of [[], ["--json"]]) {
      const { out, err } = await call(["lint", "-", ...json], { input: hostile, columns: 80, env: { NO_COLOR: "1" } });
      expect([...out, ...err].join("\n")).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u);
      expect(out.length).toBeGreaterThan(0);
    }
  });

  test("reads 1,000 lines of public crontabs, and next agrees with the oracle on each that can be read", async () => {
    const input = readFileSync(join(ROOT, "test/cli/public.crontab"), "utf8");
    const { code, out } = await call(["lint", "-", "--json", "--tz", "Europe/Berlin"], { input });
    const { rules, findings } = JSON.parse(out.join("\n")) as {
      rules: number;
      findings: { line: number; severity: string; rule: string }[];
    };
    const counts: Record<string, number> = {};
    for (const { severity, rule } of findings) {
      counts[`${severity} ${rule}`] = (counts[`${severity} ${rule}`] ?? 0) + 1;
    }
    expect([code, rules, counts]).toEqual([1, 1000, FINDINGS_OF_PUBLIC_LINES]);
    const places = findings.map(({ line }) => line);
    expect(places).toEqual([...places].sort((a, b) => a - b));

    const unreadable = new Set(findings.filter(({ severity }) => severity === "error").map(({ line }) => line));
    const settings = { timeZone: "Europe/Berlin", dst: "auto", dayMatch: "or" } as const;
    let compared = 0;
    for (const { line, expression } of parseCrontabFile(input).entries) {
      if (unreadable.has(line) || expression === "@reboot") continue;
      // Clocks go forward, and back, on the next day.
      const from = line % 2 === 0 ? "2027-03-27T12:00:00Z" : "2027-10-30T12:00:00Z";
      const printed = await call(["next", expression, "--tz", settings.timeZone, "-n", "3", "--from", from, "--json"]);
      const { items } = JSON.parse(printed.out.join("\n")) as { items: { at: string }[] };
      const rule = new CronTrigger(expression, {
        ...settings,
        ...(expression.includes("H") ? { seed: expression } : {}),
      });
      const spec = parseCrontab(expression.includes("H") ? String(rule) : expression, settings);
      const fires: number[] = [];
      for (
        let at = oracleNext(spec, Date.parse(from) - 1);
        at !== null && fires.length < 3;
        at = oracleNext(spec, at)
      ) {
        fires.push(at);
      }
      expect([line, ...items.map(({ at }) => Date.parse(at))].slice(0, fires.length + 1)).toEqual([line, ...fires]);
      expect(items.length).toBeGreaterThanOrEqual(fires.length);
      compared++;
    }
    expect(compared).toBe(rules - unreadable.size - 1);
  });
});
