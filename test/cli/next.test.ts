import { describe, expect, test } from "vitest";
import { parseCrontab } from "../../src/cron/parse.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { oracleNext } from "../cron/oracle.ts";
import { call } from "./support.ts";

const BERLIN = ["--tz", "Europe/Berlin"];

describe("escapement next", () => {
  test("says what a rule means, when it fires, and what clocks do to it", async () => {
    const from = ["--from", "2027-03-27T12:00:00Z"];
    expect(await call(["next", "30 2 * * *", ...BERLIN, "-n", "2", ...from])).toEqual({
      code: 0,
      out: [
        "At 02:30, in Europe/Berlin",
        "  Sun 2027-03-28 03:00 +02:00   2027-03-28T01:00:00Z   moved from 02:30: clocks go forward",
        "  Mon 2027-03-29 02:30 +02:00   2027-03-29T00:30:00Z",
      ],
      err: [],
    });
  });

  test("tells of times that come twice, and of those that never come", async () => {
    const autumn = await call(["next", "*/30 2 * * *", ...BERLIN, "-n", "3", "--from", "2027-10-30T22:00:00Z"]);
    expect(autumn.out).toEqual([
      "Every 30 minutes from 02:00 to 02:59, in Europe/Berlin",
      "  Sun 2027-10-31 02:00 +02:00   2027-10-31T00:00:00Z   first of two: clocks go back",
      "  Sun 2027-10-31 02:30 +02:00   2027-10-31T00:30:00Z   first of two: clocks go back",
      "  Mon 2027-11-01 02:00 +01:00   2027-11-01T01:00:00Z",
    ]);
    const spring = await call(["next", "15 * * * *", ...BERLIN, "-n", "2", "--from", "2027-03-28T00:00:00Z"]);
    expect(spring.out.slice(1)).toEqual([
      "  Sun 2027-03-28 01:15 +01:00   2027-03-28T00:15:00Z",
      "  Sun 2027-03-28 03:15 +02:00   2027-03-28T01:15:00Z",
      "  Sun 2027-03-28 02:15   skipped: clocks go forward",
    ]);
  });

  test("takes a rule without quotes, with seconds, as a nickname, and with its zone before it", async () => {
    expect((await call(["next", "30", "0", "9", "*", "*", "1", "-n", "1"])).out).toEqual([
      "At 09:00:30, Monday, in UTC",
      "  Mon 2027-01-04 09:00:30 +00:00   2027-01-04T09:00:30Z",
    ]);
    expect((await call(["next", "@daily", "-n", "1"])).out[1]).toBe(
      "  Fri 2027-01-01 00:00 +00:00   2027-01-01T00:00:00Z",
    );
    expect((await call(["next", "CRON_TZ=Asia/Tokyo 0 9 * * *", "-n", "1"])).out[0]).toBe("At 09:00, in Asia/Tokyo");
  });

  test("reads a rule as others do", async () => {
    expect((await call(["next", "0 0 12 ? * 2#1", "--dialect", "quartz", "-n", "1"])).out).toEqual([
      "At 12:00, on the first Monday of the month, in UTC",
      "  Mon 2027-01-04 12:00 +00:00   2027-01-04T12:00:00Z",
    ]);
    expect(await call(["next", "0 0 31 2 *", "--dialect", "ocps"])).toMatchObject({
      code: 1,
      out: [expect.stringContaining("At 00:00, on 31 February, in UTC"), "  no fire time from then on"],
    });
    expect((await call(["next", "0 22-2 * * *", "--dialect", "vixie"])).err).toEqual([
      'error: hour "22-2" runs backwards; write a list of two ranges',
      "  0 22-2 * * *",
      "    ^^^^",
    ]);
    expect(await call(["next", "0 9 * * *", "--dialect", "quarz"])).toEqual({
      code: 2,
      out: [],
      err: ['error: --dialect is one of ocps, quartz, vixie; got "quarz"; did you mean quartz?'],
    });
  });

  test("points at what it cannot read", async () => {
    expect(await call(["next", "0 9 * * mon-fir"])).toEqual({
      code: 2,
      out: [],
      err: [
        'error: dayOfWeek "mon-fir" has an unknown name "fir"',
        "  0 9 * * mon-fir",
        "          ^^^^^^^  did you mean mon-fri?",
      ],
    });
  });

  test.each([
    ["0 0 30 2 *", "never fires: no month matches day 30; write L for the last day", "      ^^  did you mean L?"],
    ["0 77 * * *", 'hour "77" is outside 0-23; hour takes 0-23, and ranges, steps and lists of them', "    ^^"],
    [
      "5 30 * * *",
      'hour "30" is outside 0-23; the order is minute hour day month weekday',
      "    ^^  did you mean 30 5 * * *?",
    ],
    ["0 9 * *", '"0 9 * *" has 4 fields, not 5, 6 or 7', "  ^^^^^^^  did you mean 0 9 * * *?"],
    ["@dayly", '"@dayly" is not a nickname', "  ^^^^^^  did you mean @daily?"],
  ])("says of %s what is wrong", async (rule, message, caret) => {
    const { code, err } = await call(["next", rule]);
    expect([code, err[0], err.at(-1)]).toEqual([2, `error: ${message}`, caret]);
  });

  test("gives the same as JSON, errors too", async () => {
    const { out, code } = await call([
      "next",
      "30 2 * * *",
      ...BERLIN,
      "-n",
      "1",
      "--from",
      "2027-03-28T00:00:00Z",
      "--json",
    ]);
    expect([code, JSON.parse(out.join("\n"))]).toEqual([
      0,
      {
        description: "At 02:30, in Europe/Berlin",
        timeZone: "Europe/Berlin",
        items: [
          {
            at: "2027-03-28T01:00:00Z",
            local: "2027-03-28T03:00:00+02:00",
            clockChange: "moved",
            movedFrom: "2027-03-28T02:30:00",
          },
        ],
        skipped: [],
      },
    ]);
    const failed = await call(["next", "x", "--json"]);
    expect([failed.code, JSON.parse(failed.out.join("\n"))]).toMatchObject([2, { error: { code: "cronSyntax" } }]);
  });

  test("ends with 1 where nothing comes any more", async () => {
    const { code, out } = await call(["next", "0 0 9 1 1 ? 2020"]);
    expect([code, out.at(-1)]).toEqual([1, "  no fire time from then on"]);
  });
});

describe("the fire times of escapement next", () => {
  test.each([
    "*/7 2-4 * * *",
    "30 2 * * *",
    "0 9 13 * fri",
    "0 0 L * *",
    "15 0-23/5 1-7 3,10 sun",
    "H H * * *",
    "@weekly",
  ])("are those of the oracle: %s", async (rule) => {
    for (const timeZone of ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]) {
      const argv = ["next", rule, "--tz", timeZone, "-n", "40", "--from", "2027-03-01T00:00:00Z", "--json"];
      const { items } = JSON.parse((await call(argv)).out.join("\n")) as { items: { at: string }[] };
      // The values of H are those that the command shows, and the oracle knows no seed.
      const text = rule.includes("H")
        ? String(new CronTrigger(rule, { seed: rule }))
        : rule.replace("@weekly", "0 0 * * 0");
      const spec = parseCrontab(text, { timeZone, dst: "auto", dayMatch: "or" });
      const expected: string[] = [];
      let at: number | null = Date.parse("2027-03-01T00:00:00Z") - 1;
      while (expected.length < 40) {
        at = oracleNext(spec, at);
        if (at === null) break;
        expected.push(new Date(at).toISOString().replace(".000Z", "Z"));
      }
      expect(items.map((item) => item.at)).toEqual(expected);
    }
  });
});

describe("the command line", () => {
  test.each([
    [["nxt"], "error: unknown command 'nxt'", "(Did you mean next?)"],
    [["next", "@daily", "--form", "now"], "error: unknown option '--form'", "(Did you mean --from?)"],
    [["lint", "x", "--wait"], "error: unknown option '--wait'; these commands have it: now", undefined],
    [["next", "@daily", "-n", "0"], 'error: --count must be a number from 1 to 1000; got "0"', undefined],
    [["next", "@daily", "--from", "monday"], undefined, undefined],
    [["next", "@daily", "--tz", "Europe/Berlim"], undefined, undefined],
    [
      ["next"],
      "error: missing required argument 'cron'",
      "  for example: escapement next '30 2 * * *' --tz Europe/Berlin -n 2",
    ],
  ])("ends with 2 for %j, and says what to do", async (argv, first, second) => {
    const { code, out, err } = await call(argv);
    expect([code, out]).toEqual([2, []]);
    if (first !== undefined) expect(err[0]).toBe(first);
    if (second !== undefined) expect(err.slice(1)).toContain(second);
    expect(err.length).toBeGreaterThan(0);
  });

  test("has colours on terminals alone, and not with NO_COLOR", async () => {
    const argv = ["next", "@daily", "-n", "1"];
    const [plain, terminal, refused, forced] = await Promise.all([
      call(argv),
      call(argv, { columns: 80 }),
      call(argv, { columns: 80, env: { NO_COLOR: "1" } }),
      call(argv, { env: { FORCE_COLOR: "1" } }),
    ]);
    expect(terminal.out[0]).toBe("\u001b[1mAt 00:00, in UTC\u001b[22m");
    expect(refused.out).toEqual(plain.out);
    expect(forced.out).toEqual(terminal.out);
  });

  test("shows an example with the help of each command", async () => {
    const { out, code } = await call(["--help"]);
    const names = out
      .flatMap((line) => /^ {2}([a-z]+) (?:\[|<| )/.exec(line)?.[1] ?? [])
      .filter((name) => name !== "help");
    expect([code, names.length]).toEqual([0, new Set(names).size]);
    for (const name of names) {
      const help = await call([name, "--help"]);
      expect([name, help.code, help.out.filter((line) => line.startsWith("  $ escapement ")).length > 0]).toEqual([
        name,
        0,
        true,
      ]);
      expect(help.out.filter((line) => line.length > 80 && !line.startsWith("  $"))).toEqual([]);
    }
  });

  test("tells its version", async () => {
    expect(await call(["--version"])).toEqual({ code: 0, out: ["0.1.0"], err: [] });
  });
});
