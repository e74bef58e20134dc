import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { bundleProcess } from "../support/bundle-process.ts";
import { Child, ROOT } from "../support/child.ts";
import { folderWith } from "./support.ts";

test("run --ui, run --watch, dashboard and tail start, answer, and end with 0 after SIGTERM; a reader may go", async () => {
  await using folder = await folderWith({
    crontab: "@reboot until [ -e go ]; do sleep 0.05; done; echo going; touch done\n",
  });
  const { path } = folder;
  const bin = join(path, "bin.mjs");
  const program = join(path, "program.mjs");
  await bundleProcess(join(ROOT, "src/cli/bin.ts"), bin);
  await bundleProcess(join(ROOT, "test/cli/program.ts"), program);
  const config = join(path, "escapement.config.mjs");
  const store = `file:${join(path, "jobs.db")}`;
  await writeFile(config, `export default { store: ${JSON.stringify(store)} };\n`);
  const start = (...words: string[]): Child => new Child([process.execPath, bin, ...words], { STORE: store });

  const running = start("run", program, "--ui");
  expect(await pageOf(running)).toContain("text/html");
  const page = start("dashboard", "--config", config);
  expect(await pageOf(page)).toContain("text/html");
  const tail = start("tail", "--store", store);
  await tail.prints(/jobReleased +beat .*success/);
  for (const child of [tail, page, running]) {
    child.process.kill("SIGTERM");
    expect(await child.ended).toBe(0);
  }

  // Whoever reads may go, as `head` does: what runs ends before the program does, and nobody sees a stack.
  const crontab = new Child(["/bin/sh", "-c", `cd "${path}" && exec "${process.execPath}" bin.mjs crontab crontab`]);
  await crontab.prints(/has 1 line/);
  crontab.process.stdout?.destroy();
  crontab.output = "";
  await writeFile(join(path, "go"), "");
  expect([await crontab.ended, crontab.output, existsSync(join(path, "done"))]).toEqual([0, "", true]);

  // A source that changes: what runs ends first, and then the new one begins.
  const source = (version: number): string => `import { existsSync } from "node:fs";
import { everySecond } from "./program.mjs";
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));
export default await everySecond("wait", async () => {
  console.log("version ${version} begins");
  while (!existsSync(${JSON.stringify(join(path, "ended"))})) await turn();
  console.log("version ${version} ends");
});
`;
  const app = join(path, "app.mjs");
  await writeFile(app, source(1));
  const watched = start("run", app, "--watch");
  await watched.prints(/version 1 begins/);
  await writeFile(app, source(2));
  await watched.prints(/a source changed/);
  await writeFile(join(path, "ended"), "");
  await watched.prints(/version 1 ends[\s\S]*version 2 begins[\s\S]*version 2 ends/);
  expect(watched.output).not.toMatch(/version 2[\s\S]*version 1/);
  watched.process.kill("SIGTERM");
  expect(await watched.ended).toBe(0);

  // A pipe: of somebody who writes nothing, of one who writes, and of one for whom nobody waits any more.
  const pipe = join(path, "pipe");
  expect(await new Child(["mkfifo", pipe]).ended).toBe(0);
  const lints: (readonly [text: string | null, code: number, printed: string])[] = [
    ["", 2, `error: ${pipe} is a pipe into which nobody has written\n`],
    ["0 1 * * * fine\n", 0, "1 rule: 0 errors, 0 warnings, 0 notes\n"],
    [null, 130, ""],
  ];
  for (const [text, code, printed] of lints) {
    const lint = start("lint", pipe, "--tz", "UTC");
    // It is open when the other side is.
    const writer = await open(pipe, "w");
    if (text === null) lint.process.kill("SIGINT");
    else if (text !== "") await writer.write(text);
    if (text !== null) await writer.close();
    expect([await lint.ended, lint.output]).toEqual([code, printed]);
    if (text === null) await writer.close();
  }

  // A file that cannot be written, as on a full disk.
  const lost = spawn(process.execPath, [bin, "schema", "--sql"], { stdio: ["ignore", openSync(bin, "r"), "pipe"] });
  let text = "";
  lost.stderr?.on("data", (data: Buffer) => {
    text += data.toString();
  });
  const [code] = await once(lost, "close");
  expect([code, text]).toEqual([1, "error: the output cannot be written: EBADF\n"]);
});

/** The kind of the page whose link a program prints. */
async function pageOf(child: Child): Promise<string> {
  await child.prints(/the page is at http:\S+ /);
  const [, address = ""] = /at (http:\S+?)#code=/.exec(child.output) ?? [];
  return (await fetch(address)).headers.get("content-type") ?? "";
}
