import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runShell } from "../../src/cli/shell.ts";
import { folderWith } from "./support.ts";

/** Waits in the background until the file `go` is there, in a session of its own, as a daemon does. */
const daemon = (then: string, redirects = ""): string =>
  `setsid sh -c 'while [ ! -e go ]; do sleep 0.02; done; ${then}' ${redirects} &`;

/** A command that runs in a folder, with a clock that moves when it is told to. */
class RunningShell {
  readonly lines: string[] = [];
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly #ending = new AbortController();
  readonly #sleepers: { ms: number; wake(): void }[] = [];
  #onChange = (): void => {};

  constructor(command: string, cwd: string) {
    const env = { PATH: process.env.PATH ?? "" };
    const onLine = (line: string): void => {
      this.lines.push(line);
      this.#onChange();
    };
    const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve(), { once: true });
        this.#sleepers.push({ ms, wake: resolve });
        this.#onChange();
      });
    const { signal } = this.#ending;
    this.ended = runShell({ command, input: null, shell: "/bin/sh", cwd, env }, onLine, { signal, sleep });
  }

  abort(): void {
    this.#ending.abort();
  }

  prints(line: string): Promise<void> {
    return this.#until(() => this.lines.includes(line));
  }

  /** Waits until something sleeps for so long. @returns what lets that time pass */
  async sleeps(ms: number): Promise<() => void> {
    await this.#until(() => this.#sleepers.some((one) => one.ms === ms));
    return () => this.#sleepers.find((one) => one.ms === ms)?.wake();
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }
}

const GRACE_MS = 2000;
const KILL_MS = 5000;

describe("runShell", () => {
  test.each([
    ["both pipes", ""],
    ["the standard output alone", "2>/dev/null"],
    ["the standard error alone", ">/dev/null"],
  ])("ends with its shell where a daemon keeps %s", async (_, redirects) => {
    await using folder = await folderWith({});
    const running = new RunningShell(
      `${daemon("echo out; echo err >&2", redirects)} echo started; exit 3`,
      folder.path,
    );
    const passes = await running.sleeps(GRACE_MS);
    passes();
    expect(await running.ended).toBe(3);
    expect(running.lines).toEqual(["started"]);
    // The daemon is not ended by a pipe that nobody reads.
    await writeFile(join(folder.path, "go"), "");
    await running.prints(redirects.startsWith(">") ? "err" : "out");
  });

  test("waits for nothing where the pipes close, as with nohup and redirected output", async () => {
    await using folder = await folderWith({});
    const command = `nohup sh -c 'while [ ! -e go ]; do sleep 0.02; done; echo on > gone' >/dev/null 2>&1 & echo started`;
    const running = new RunningShell(command, folder.path);
    expect(await running.ended).toBe(0);
    expect(running.lines).toEqual(["started"]);
    await writeFile(join(folder.path, "go"), "");
  });

  test("has what is printed in the grace, and the last line without its line break", async () => {
    await using folder = await folderWith({});
    const running = new RunningShell(daemon("echo late; printf unfinished; touch told; sleep 60"), folder.path);
    const passes = await running.sleeps(GRACE_MS);
    await writeFile(join(folder.path, "go"), "");
    await running.prints("late");
    while ((await readFile(join(folder.path, "told")).catch(() => null)) === null);
    passes();
    expect(await running.ended).toBe(0);
    expect(running.lines).toEqual(["late", "unfinished"]);
  });

  test("ends as soon as the pipes close within the grace", async () => {
    await using folder = await folderWith({});
    const running = new RunningShell(daemon("echo late"), folder.path);
    await running.sleeps(GRACE_MS);
    await writeFile(join(folder.path, "go"), "");
    expect(await running.ended).toBe(0);
    expect(running.lines).toEqual(["late"]);
  });

  test("tells the signal that ended the shell, with a daemon too", async () => {
    await using folder = await folderWith({});
    const running = new RunningShell(`${daemon("true")} kill -9 $$`, folder.path);
    (await running.sleeps(GRACE_MS))();
    expect(await running.ended).toBe("SIGKILL");
    await writeFile(join(folder.path, "go"), "");
  });

  test("ends at once, when it is told to, in the grace and with a daemon that no signal reaches", async () => {
    await using folder = await folderWith({});
    const graceful = new RunningShell(daemon("true"), folder.path);
    await graceful.sleeps(GRACE_MS);
    graceful.abort();
    expect(await graceful.ended).toBe(0);

    const running = new RunningShell(`${daemon("true")} echo started; while :; do sleep 0.02; done`, folder.path);
    await running.prints("started");
    running.abort();
    const passes = running.sleeps(KILL_MS + GRACE_MS);
    // Its last sleep may still be there for a moment, and be waited for.
    void passes.then((pass) => pass());
    expect(await running.ended).toBe("SIGTERM");
    await writeFile(join(folder.path, "go"), "");
  });

  test("ends what the shell started, if that does not heed SIGTERM", async () => {
    await using folder = await folderWith({});
    const stubborn = `sh -c 'trap "" TERM; echo ready; while :; do sleep 0.02; done'`;
    const running = new RunningShell(`${stubborn} & wait`, folder.path);
    await running.prints("ready");
    running.abort();
    await running.sleeps(KILL_MS + GRACE_MS);
    (await running.sleeps(KILL_MS))();
    expect(await running.ended).toBe("SIGTERM");
  });
});
