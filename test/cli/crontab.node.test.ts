import { writeFileSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { Sqld } from "../support/sqld.ts";
import { call, folderWith, Running } from "./support.ts";

/** What tells a line of the log apart. */
const line = (msg: string): RegExp => new RegExp(`"msg":"${msg}"[^\n]*\n`);

async function lastRuns(path: string): Promise<{ taskId: string; outcome: string; id: string }[]> {
  const { out } = await call(["list", "runs", "--store", "file:cron.db", "--json"], { cwd: path });
  return (JSON.parse(out.join("\n")) as { items: { taskId: string; outcome: string; id: string }[] }).items;
}

/** The clock of this machine, moved so that a minute begins 15 s from now: nearer to that of a server than a lease. */
function nearMinute(): Clock {
  const byMs = 45_000 - (systemClock.now() % 60_000);
  return {
    ...systemClock,
    now: () => systemClock.now() + byMs,
    sleep: (untilMs, signal) => systemClock.sleep(untilMs - byMs, signal),
    sleepExactly: (untilMs, signal) => systemClock.sleepExactly(untilMs - byMs, signal),
  };
}

describe("escapement crontab", () => {
  test("runs each line by the shell, with its environment and its input, and keeps what it prints", async () => {
    const crontab = `GREETING="hello there"
@reboot echo "booted $0 $GREETING"
1 0 * * * echo "$GREETING, $OUTER"; echo trouble >&2
2 0 * * * cat%first%second
3 0 * * * exit 3
`;
    await using folder = await folderWith({ crontab });
    const argv = ["crontab", "crontab", "--tz", "UTC", "--store", "file:cron.db"];
    const running = new Running(argv, { cwd: folder.path, env: { OUTER: "outer", ESCAPEMENT_TOKEN: "secret" } });
    await running.prints(line("booted /bin/sh hello there"));
    await running.clock.advance("1m");
    const told = await running.prints(line("hello there, outer"));
    expect(JSON.parse(told[0].slice(told[0].indexOf('"msg"')).replace(/^/, "{"))).toMatchObject({ channel: "stdout" });
    await running.prints(line("trouble"));
    await running.clock.advance("1m");
    await running.prints(line("first"));
    await running.prints(line("second"));
    await running.clock.advance("1m");
    await running.prints(/exit code 3/);
    expect(await running.stop()).toMatchObject({ code: 0 });
    const runs = await lastRuns(folder.path);
    expect(runs.map(({ outcome }) => outcome).sort()).toEqual(["error", "success", "success", "success"]);
    const kept = runs.find(({ taskId, outcome }) => taskId.startsWith("echo") && outcome === "success");
    const logs = await call(["logs", kept?.id ?? "", "--store", "file:cron.db"], { cwd: folder.path });
    expect(logs.out.length).toBeGreaterThan(0);
  });

  test("makes up for what came due while it was stopped", async () => {
    await using folder = await folderWith({ crontab: "0 3 * * * echo made up\n" });
    const argv = ["crontab", "crontab", "--tz", "UTC", "--store", "file:cron.db"];
    const first = new Running(argv, { cwd: folder.path });
    await first.prints(line("crontab has 1 line"));
    await first.stop();
    const second = new Running(argv, { cwd: folder.path, now: "2027-01-01T07:00:00Z" });
    await second.prints(line("made up"));
    await second.stop();
    expect(await lastRuns(folder.path)).toMatchObject([{ outcome: "success" }]);
  });

  test("runs what the file says, whatever the store, a payload or a job asks for", async () => {
    await using folder = await folderWith({ crontab: "30 0 * * * echo the line of the file\n" });
    const argv = ["crontab", "crontab", "--tz", "UTC", "--store", "file:cron.db"];
    const first = new Running(argv, { cwd: folder.path });
    await first.prints(line("crontab has 1 line"));
    await first.stop();
    const { out } = await call(["list", "--store", "file:cron.db", "--json"], { cwd: folder.path });
    const [{ id }] = (JSON.parse(out.join("\n")) as { items: [{ id: string }] }).items;
    const url = `file:${join(folder.path, "cron.db")}`;
    const hostile = {
      command: "touch owned",
      shell: "touch owned",
      env: { SHELL: "/bin/false" },
      input: "touch owned",
    };
    const other = new Scheduler({ dataStore: new LibsqlDataStore({ url }), logLevel: "silent" });
    await other.updateSchedule(id, { payload: hostile, metadata: hostile, name: "touch owned" });
    await other.addJob(id, { payload: hostile, metadata: hostile, runAt: "2027-01-01T00:00:00Z" });
    await other.addSchedule(id, "31 0 * * *", { id: "touch owned", payload: hostile });
    await other.stop();
    const second = new Running(argv, { cwd: folder.path });
    await second.prints(line("the line of the file"));
    await second.clock.advance("30m");
    await second.prints(line("the line of the file"));
    const { out: printed } = await second.stop();
    expect(printed.join("\n")).not.toContain("owned");
    const { out: left } = await call(["list", "--store", "file:cron.db", "--json"], { cwd: folder.path });
    expect((JSON.parse(left.join("\n")) as { items: { id: string }[] }).items.map((one) => one.id)).toEqual([id]);
    expect((await call(["lint", "owned"], { cwd: folder.path })).err[0]).toBe("error: owned does not exist");
  });

  test("reads the file anew when it is told to, and keeps the old one where the new one is wrong", async () => {
    await using folder = await folderWith({ crontab: "5 0 * * * echo old\n6 0 * * * echo both\n" });
    const running = new Running(["crontab", "crontab", "--tz", "UTC", "--store", "file:cron.db"], { cwd: folder.path });
    await running.prints(line("crontab has 2 lines"));
    await running.prints(/scheduler|starts|started/);
    await writeFile(join(folder.path, "crontab"), "99 0 * * * echo broken\n");
    running.hangUp();
    await running.prints(/crontab is not taken over: .*minute \\"99\\"/);
    await writeFile(join(folder.path, "crontab"), "6 0 * * * echo both\n7 0 * * * echo new\n");
    running.hangUp();
    await running.prints(line("crontab has 2 lines"));
    await running.clock.advance("6m");
    await running.prints(line("both"));
    await running.clock.advance("1m");
    await running.prints(line("new"));
    const { out } = await running.stop();
    expect(out.join("\n")).not.toContain('"msg":"old"');
  });

  test("reads the file anew where it is told to before it has started", async () => {
    await using folder = await folderWith({ crontab: "5 0 * * * echo old\n" });
    const [cwd, argv] = [folder.path, ["--tz", "UTC", "--store", "file:cron.db"]];
    const [ending, never] = [new AbortController(), new AbortController()];
    const onHangUp = (listener: () => void) => {
      writeFileSync(join(cwd, "crontab"), "5 0 * * * echo new\n");
      listener();
      return () => {};
    };
    await call(["crontab", "crontab", ...argv], {
      cwd,
      signals: { first: ending.signal, second: never.signal, isInterrupted: false, onHangUp },
      onOutput: (text) => {
        if (text.includes("started as")) ending.abort();
      },
    });
    const { out } = await call(["list", "--store", "file:cron.db", "--json"], { cwd });
    const { items } = JSON.parse(out.join("\n")) as { items: { name: string }[] };
    expect(items.map(({ name }) => name)).toEqual(["echo new"]);
  });

  test("goes on with its lines where the file has a line of another crontab, is half written, or cannot be read", async () => {
    await using folder = await folderWith({ other: "0 5 * * * echo both\n", crontab: "* * * * * echo old\n" });
    const path = join(folder.path, "crontab");
    const argv = ["--tz", "UTC", "--store", "file:cron.db"];
    const other = new Running(["crontab", "other", ...argv], { cwd: folder.path });
    await other.prints(line("other has 1 line"));
    await other.stop();
    const running = new Running(["crontab", "crontab", ...argv], { cwd: folder.path });
    await running.prints(/started as/);
    const isRefused = async (reason: RegExp): Promise<void> => {
      running.hangUp();
      running.hangUp();
      await running.prints(/crontab is not taken over: the lines that there are go on/);
      await running.prints(reason);
      await running.clock.advance("1m");
      await running.prints(line("old"));
    };
    await writeFile(path, "* * * * * echo new\n0 5 * * * echo both\n");
    await isRefused(/the store has this command as a line of another crontab/);
    await writeFile(path, "* * * * * echo new\n* * * * * echo n");
    await isRefused(/ends within a line/);
    await writeFile(path, "");
    await isRefused(/ends within a line/);
    await rm(path);
    await isRefused(/does not exist/);
    await mkdir(path);
    await isRefused(/is a folder/);
    await rm(path, { recursive: true });
    await symlink(path, path);
    await isRefused(/is a link to itself/);
    await rm(path);
    await writeFile(path, "* * * * * echo new\n");
    running.hangUp();
    await running.prints(line("crontab has 1 line"));
    await running.clock.advance("1m");
    await running.prints(line("new"));
    expect((await running.stop()).out.join("\n")).not.toContain("no such line");
  });

  test.each([
    ["takes nothing", "INSERT", false],
    ["takes the new lines, and fails before the old ones are gone", "DELETE", true],
  ])("loses no line where the store %s", async (_, verb, isNewStored) => {
    await using folder = await folderWith({ crontab: "* * * * * echo old\n" });
    const argv = ["crontab", "crontab", "--tz", "UTC", "--store", "file:cron.db"];
    const running = new Running(argv, { cwd: folder.path });
    await running.prints(/started as/);
    const database = createClient({ url: `file:${join(folder.path, "cron.db")}` });
    const fails = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END";
    await database.execute(`CREATE TRIGGER full BEFORE ${verb} ON escapement_schedules ${fails}`);
    await writeFile(join(folder.path, "crontab"), "* * * * * echo new\n");
    running.hangUp();
    await running.prints(/crontab is not taken over, or in part: the lines that there are go on/);
    await running.clock.advance("1m");
    await running.prints(line("old"));
    if (isNewStored) {
      await running.clock.advance("1m");
      await running.prints(line("new"));
    }
    await database.execute("DROP TRIGGER full");
    database.close();
    running.hangUp();
    await running.prints(line("crontab has 1 line"));
    await running.clock.advance("1m");
    await running.prints(line("new"));
    expect((await running.stop()).out.join("\n")).not.toContain("no such line");
    const runs = await lastRuns(folder.path);
    expect(runs.filter(({ outcome }) => outcome !== "success")).toEqual([]);
  });

  test.each([
    ["sqld", () => Sqld.start().then((server) => ({ server, url: server.httpUrl }))],
    [
      "PostgreSQL",
      // A crash must not lose what was committed.
      () =>
        PostgresServer.start({ settings: ["synchronous_commit=on"] }).then((server) => ({ server, url: server.url })),
    ],
  ])(
    "goes on with its lines where %s is away during a reload, and takes the file over once it is back",
    async (_, start) => {
      await using folder = await folderWith({ crontab: "* * * * * echo old\n" });
      const { server, url } = await start();
      const argv = ["crontab", "crontab", "--tz", "UTC", "--store", url];
      const running = new Running(argv, { cwd: folder.path, clock: nearMinute() });
      try {
        await running.prints(/started as/);
        await server.kill();
        await writeFile(join(folder.path, "crontab"), "* * * * * echo new\n");
        running.hangUp();
        await running.prints(/crontab is not taken over, or in part: the lines that there are go on/);
        await server.resume();
        await running.prints(line("old"));
        running.hangUp();
        await running.prints(line("crontab has 1 line"));
        const { out } = await call(["list", "--store", url, "--json"], { cwd: folder.path });
        expect((JSON.parse(out.join("\n")) as { items: object[] }).items).toMatchObject([{ name: "echo new" }]);
      } finally {
        await running.stop();
        await server.stop();
      }
    },
  );

  test("takes a file over while a command runs, which ends as if nothing had been", async () => {
    await using folder = await folderWith({
      crontab: "1 0 * * * echo begins; while [ ! -e go ]; do sleep 0.02; done; echo ends\n",
    });
    const argv = ["crontab", "crontab", "--tz", "UTC", "--store", "file:cron.db"];
    const running = new Running(argv, { cwd: folder.path });
    await running.prints(/started as/);
    await running.clock.advance("1m");
    await running.prints(line("begins"));
    await writeFile(join(folder.path, "crontab"), "2 0 * * * echo new\n");
    running.hangUp();
    await running.prints(line("crontab has 1 line"));
    await running.clock.advance("1m");
    await running.prints(line("new"));
    await writeFile(join(folder.path, "go"), "");
    await running.prints(line("ends"));
    await running.stop();
    expect((await lastRuns(folder.path)).map(({ outcome }) => outcome)).toEqual(["success", "success"]);
  });

  test("ends at the second SIGTERM, where a line has left a daemon behind", async () => {
    await using folder = await folderWith({
      crontab: "@reboot setsid sh -c 'echo up; while [ ! -e go ]; do sleep 0.02; done' &\n",
    });
    const running = new Running(["crontab", "crontab"], { cwd: folder.path });
    await running.prints(line("up"));
    running.terminate();
    await running.prints(/stopping: /);
    running.terminate();
    expect((await running.ended).code).toBe(0);
    await writeFile(join(folder.path, "go"), "");
  });

  test("goes on with the lines of its standard input, which cannot be read anew", async () => {
    const running = new Running(["crontab", "-", "--tz", "UTC"], { input: "5 0 * * * echo here\n" });
    await running.prints(line("- has 1 line"));
    await running.prints(/started as/);
    running.hangUp();
    await running.prints(/cannot be read anew/);
    await running.clock.advance("5m");
    await running.prints(line("here"));
    expect((await running.stop()).code).toBe(0);
  });

  test("lets running commands end after SIGTERM, and ends them at the second one", async () => {
    const wait = "while [ ! -e go ]; do sleep 0.05; done; echo done waiting";
    await using folder = await folderWith({ crontab: `@reboot echo waiting; ${wait}\n` });
    const options = { cwd: folder.path };
    const argv = ["crontab", "crontab", "--store", "file:cron.db"];
    const patient = new Running(argv, options);
    await patient.prints(line("waiting"));
    patient.terminate();
    await patient.prints(/stopping: /);
    await writeFile(join(folder.path, "go"), "");
    await patient.prints(line("done waiting"));
    expect((await patient.ended).code).toBe(0);

    await using other = await folderWith({ crontab: `@reboot echo waiting; ${wait}\n` });
    const hurried = new Running(argv, { cwd: other.path });
    await hurried.prints(line("waiting"));
    hurried.terminate();
    await hurried.prints(/stopping: /);
    hurried.terminate();
    expect((await hurried.ended).code).toBe(0);
  });

  test("gives a command that it ends the time to end by itself", async () => {
    const wait = "trap 'echo cleaned up; exit 0' TERM; echo waiting; while :; do sleep 0.05; done";
    await using folder = await folderWith({ crontab: `@reboot ${wait}\n` });
    const running = new Running(["crontab", "crontab"], { cwd: folder.path });
    await running.prints(line("waiting"));
    running.terminate();
    await running.prints(/stopping: /);
    running.terminate();
    // It would be killed after five seconds of a clock that stands still.
    await running.prints(line("cleaned up"));
    expect((await running.ended).code).toBe(0);
  });

  test("tells two crontabs of one store apart, by their paths or their names", async () => {
    await using folder = await folderWith({});
    for (const name of ["one", "two", "three"]) await mkdir(join(folder.path, name));
    await writeFile(join(folder.path, "one/crontab"), "0 1 * * * echo one\n0 5 * * * echo both\n");
    await writeFile(join(folder.path, "two/crontab"), "0 2 * * * echo two\n");
    await writeFile(join(folder.path, "three/crontab"), "0 6 * * * echo both\n");
    const ids = async (): Promise<string[]> => {
      const { out } = await call(["list", "--store", "file:cron.db", "--json"], { cwd: folder.path });
      return (JSON.parse(out.join("\n")) as { items: { id: string }[] }).items.map(({ id }) => id);
    };
    const start = async (...argv: string[]): Promise<void> => {
      const all = ["crontab", ...argv, "--tz", "UTC", "--store", "file:cron.db"];
      const running = new Running(all, { cwd: folder.path });
      await running.prints(/ has \d lines?/);
      await running.stop();
    };
    await start("one/crontab");
    await start("two/crontab");
    expect(await ids()).toEqual([/^echo-/, /^echo-/, /^echo-/].map((id) => expect.stringMatching(id)));

    const argv = ["crontab", "three/crontab", "--store", "file:cron.db"];
    expect(await call(argv, { cwd: folder.path })).toEqual({
      code: 1,
      out: [],
      err: [
        "error: three/crontab:1: the store has this command as a line of another crontab, " +
          `${join(folder.path, "one/crontab")}`,
        "  echo both",
        "  give one of the two crontabs a --name, with which the ids of its lines begin",
      ],
    });
    await start("three/crontab", "--name", "three");
    expect(await ids()).toEqual(expect.arrayContaining([expect.stringMatching(/^three\/echo-/)]));
    expect((await call([...argv, "--name", "a/b"], { cwd: folder.path })).code).toBe(2);

    // A file that was moved takes its lines along, and loses no history.
    const before = await ids();
    await rename(join(folder.path, "one/crontab"), join(folder.path, "one/moved"));
    await start("one/moved");
    expect(await ids()).toEqual(before);
  });

  test("starts nothing of a file with a mistake, and serves nobody else without a token", async () => {
    await using folder = await folderWith({
      wrong: "0 0 * * * fine\n60 * * * * x\nhello\n",
      right: "0 0 * * * fine\n",
    });
    expect(await call(["crontab", "wrong"], { cwd: folder.path })).toEqual({
      code: 2,
      out: [],
      err: [
        "error: wrong cannot be read:",
        "  wrong:3: hello: is no line of a crontab: it takes five fields (or a nickname) and a command",
        expect.stringContaining('  wrong:2: 60 * * * *: minute "60" is outside 0-59'),
      ],
    });
    const told = JSON.parse(
      (await call(["crontab", "wrong", "--json"], { cwd: folder.path })).out.join("\n"),
    ) as unknown;
    expect(told).toMatchObject({
      error: { code: "cronSyntax", message: expect.stringMatching(/:\n {2}wrong:3: hello/) },
    });
    const open = await call(["crontab", "right", "--port", "0", "--host", "0.0.0.0"], { cwd: folder.path });
    expect([open.code, open.err[0]]).toEqual([2, "error: --host 0.0.0.0 needs a token"]);
    expect((await call(["crontab", "right", "--overlap", "maybe"], { cwd: folder.path })).code).toBe(2);
  });

  test("tells its numbers on a loopback port, where nobody may change anything without a token", async () => {
    await using folder = await folderWith({ crontab: "0 0 * * * fine\n" });
    const running = new Running(["crontab", "crontab", "--port", "0"], { cwd: folder.path });
    const [, address = ""] = await running.prints(/the page is at (http:\/\/127\.0\.0\.1:\d+\/)/);
    const metrics = await fetch(`${address}metrics`);
    expect([metrics.status, await metrics.text()]).toEqual([200, expect.stringContaining("escapement_schedules")]);
    expect((await fetch(address)).headers.get("content-type")).toContain("text/html");
    const { items } = (await (await fetch(`${address}schedules`)).json()) as { items: { id: string }[] };
    const path = `${address}schedules/${items[0]?.id}`;
    for (const verb of ["run", "pause"]) {
      const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
      expect((await fetch(`${path}/${verb}`, { method: "POST", headers, body: "{}" })).status).toBe(403);
    }
    expect((await running.stop()).code).toBe(0);
    const env = { ESCAPEMENT_TOKEN: "0123456789abcdef0123456789abcdef" };
    const guarded = new Running(["crontab", "crontab", "--port", "0"], { cwd: folder.path, env });
    // The log has no code that signs in.
    await guarded.prints(/the page is at http:\/\/127\.0\.0\.1:\d+\/, and/);
    await guarded.stop();
  });
});
