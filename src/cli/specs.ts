import type { CommandSpec } from "./command.ts";

/** Which scheduler a command is about. */
export const SCHEDULER_OPTIONS: readonly (readonly [flags: string, description: string])[] = [
  ["--store <url>", "a store: file:jobs.db, http(s): or libsql: of sqld or Turso"],
  ["--url <url>", "a router, such as https://example.org/scheduler"],
  ["--token <token>", "its token (default: the variable ESCAPEMENT_TOKEN)"],
  ["--config <file>", "a module with a scheduler (default: escapement.config.ts)"],
];

const TZ = ["--tz <zone>", "the time zone, such as Europe/Berlin, or local"] as const;
const FROM = ["--from <instant>", "begin here (default: now)"] as const;

/** All commands, in the order in which `--help` shows them. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "next",
    takes: "<cron...>",
    summary: "Tell what a rule means, and when it fires next.",
    options: [TZ, ["-n, --count <number>", "how many fire times (default: 5)"], FROM],
    on: "nothing",
    example: "escapement next '30 2 * * *' --tz Europe/Berlin -n 2",
    load: () => import("./commands/next.ts"),
  },
  {
    name: "lint",
    takes: "[file]",
    summary: "Find what is wrong in a crontab: a file, - for the standard input, or one rule.",
    options: [
      ["--cron <rule>", "look at this rule in place of a file"],
      TZ,
      ["--system", "lines name a user, as in /etc/crontab"],
      FROM,
    ],
    on: "nothing",
    example: "escapement lint /etc/crontab --tz Europe/Berlin",
    load: () => import("./commands/lint.ts"),
  },
  {
    name: "forecast",
    takes: "[file]",
    summary: "Tell the load to come: of a crontab, or of a scheduler.",
    options: [["--for <duration>", "how far to look (default: 24h)"], FROM, TZ, ["--system", "lines name a user"]],
    on: "either",
    example: "escapement forecast crontab --for 7d",
    load: () => import("./commands/forecast.ts"),
  },
  {
    name: "import",
    takes: "<file>",
    summary: "Add the schedules of a crontab, of other systems, or of an export.",
    options: [
      ["--from <system>", "crontab, kubernetes, github, systemd or export (default: as the file looks)"],
      ["--dry-run", "show what would be added"],
      ["--task <id>", "the task of all schedules (default: one for each)"],
      TZ,
      ["--system", "lines name a user, as in /etc/crontab"],
    ],
    on: "either",
    example: "escapement import crontab --from crontab --dry-run",
    load: () => import("./commands/import.ts"),
  },
];
