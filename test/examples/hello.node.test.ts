import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BUN_BINARY, Child, denoBinary, ROOT } from "../support/child.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const commands = {
  Node: [process.execPath, join(ROOT, "scripts/start.mjs")],
  Deno: [denoBinary(), "run", "-A", "--cached-only", join(ROOT, "examples/hello.ts")],
  Bun: [BUN_BINARY, "run", join(ROOT, "examples/hello.ts")],
} as const;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let children: Child[];
beforeEach(async () => {
  folder = await temporaryFolder();
  children = [];
});
afterEach(async () => {
  for (const child of children) child.process.kill("SIGKILL");
  await folder.remove();
});

/** The example in a process of its own. */
function startExample(runtime: keyof typeof commands): Child {
  const child = new Child([...commands[runtime], "--database", join(folder.path, "hello.db")]);
  children.push(child);
  return child;
}

/** Follows the link of the example, as a browser does. */
async function signIn(example: Child): Promise<void> {
  const link = new URL(/http:\S+token=\S+/.exec(example.output)?.[0] ?? "");
  expect(link.hostname).toBe("127.0.0.1");
  const wrong = await fetch(new URL("/?token=wrong", link), { redirect: "manual" });
  const open = await fetch(new URL("/scheduler/overview", link));
  expect([wrong.status, open.status]).toEqual([401, 401]);
  const answer = await fetch(link, { redirect: "manual" });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const overview = await fetch(new URL(answer.headers.get("location") ?? "", link), { headers: { cookie } });
  expect([answer.status, overview.status, await overview.json()]).toMatchObject([302, 200, { isStoreReached: true }]);
}

test.each(["Node", "Deno", "Bun"] as const)(
  "on %s it fires its schedules, and drains when it is asked to stop",
  async (runtime) => {
    const example = startExample(runtime);
    await example.prints(/every 5 s, Berlin/);
    await example.prints(/a job run by hand returned: world was greeted/);
    await signIn(example);
    example.process.kill("SIGINT");
    expect([await example.ended, example.output]).toEqual([0, expect.stringContaining("Stopped.")]);
    expect(example.output).toMatch(new RegExp(`Escapement on ${runtime} `));
    expect(example.output).toMatch(/SIGINT: stops when running jobs have ended[\s\S]*Stopped\. \d+ jobs ran/);
    expect(example.output).not.toContain("\u001b[");
  },
);

test("killed with a job under way and started again, it goes on, says what was missed, and runs the lost job again", async () => {
  const killed = startExample("Node");
  await killed.prints(/every 8 s started, takes 1\.5 s/);
  killed.process.kill("SIGKILL");
  await killed.ended;
  // Longer than the period of a schedule, so that something is missed.
  await new Promise((resolve) => setTimeout(resolve, 5500));
  const restarted = startExample("Node");
  await restarted.prints(/schedules are there from an earlier start/);
  await restarted.prints(/every 5 s, Berlin \(.*\) missed [1-9]\d*, the first at/);
  await restarted.prints(
    /job \S+ of task "backup" \(schedule "every 8 s"\) was lost with its process \(attempt 1\), and runs again/,
  );
  await restarted.prints(/late[\s\S]*every 5 s, Berlin/);
  restarted.process.kill("SIGTERM");
  expect([await restarted.ended, restarted.output]).toEqual([0, expect.stringContaining("Stopped.")]);
  expect(restarted.output).toMatch(/[1-9]\d* lost jobs were recovered/);
});
