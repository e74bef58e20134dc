import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { runOk } from "../package/run.ts";
import { temporaryFolder, tool } from "../package/stage.ts";

const ENTRY = fileURLToPath(new URL("../../src/mod.ts", import.meta.url)).replaceAll("\\", "/");
const SOURCE = `
import { CronTrigger, Scheduler } from "${ENTRY}";
const scheduler = new Scheduler();
const task = scheduler.task("report", () => ({ answer: 42 }));
const trigger = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
const schedule = await scheduler.addSchedule(task, trigger, { id: "weekdays" });
const job = await schedule.runNow();
const events = [];
scheduler.subscribe("jobReleased", (event) => events.push(event));
await scheduler.tick();
const result = await job.result();
for (const shown of [schedule, job, result]) {
  console.log("<log>");
  console.log(shown);
  console.log("<items>");
  console.table([shown]);
  console.log("<rows>");
  console.table([shown.toRow()]);
}
console.log("<event>");
console.log(events[0]);
console.log("<print>");
await scheduler.printSchedules();
await scheduler.stop();
`;

describe("what was read and is printed", () => {
  test.each([
    ["Node", ["node"]],
    ["Deno", [tool("deno"), "run", "--cached-only", "--no-config", "--no-lock", "--allow-env"]],
    ["Bun", [tool("bun"), "run"]],
  ])("shows what a person wants on %s", async (_runtime, command) => {
    await using folder = await temporaryFolder("printing");
    const outfile = `${folder.path}/program.mjs`;
    await build({
      stdin: { contents: SOURCE, resolveDir: folder.path },
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
    });
    const output = await runOk([...command, outfile], { cwd: folder.path });
    const parts = output.split(/^<\w+>$/m).slice(1);
    const shown: readonly (readonly string[])[] = [
      ["weekdays", "report", "0 9 * * mon-fri", "nextFireTime", "paused", "Europe/Berlin"],
      ["weekdays", "report", "paused"],
      ["weekdays", "report", "Monday to Friday", "nextFireTime", "09:00:00+0", "Europe/Berlin", "paused"],
      ["weekdays", "report", "inline", "runAt", "priority"],
      ["weekdays", "report", "scheduleId"],
      ["weekdays", "report", "runAt", "UTC", "priority"],
      ["weekdays", "report", "success", "42", "finishedAt"],
      ["weekdays", "report", "success"],
      ["weekdays", "report", "success", "finishedAt", "seconds"],
      ["weekdays", "report", "success", "jobReleased", "timestampMs"],
      ["weekdays", "report", "Monday to Friday", "nextFireTime", "09:00:00+0", "Europe/Berlin", "paused"],
    ];
    expect(parts.length).toBe(shown.length);
    expect(output).not.toContain("EventFace");
    for (const [index, texts] of shown.entries()) for (const text of texts) expect(parts[index]).toContain(text);
  });
});
