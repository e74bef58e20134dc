import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { runOk } from "../package/run.ts";
import { temporaryFolder, tool } from "../package/stage.ts";

const ENTRY = fileURLToPath(new URL("../../src/cron.ts", import.meta.url));
const SOURCE = `import { CronTrigger } from "${ENTRY.replaceAll("\\", "/")}";
console.log(CronTrigger.fromCrontab("0 9 * * mon-fri"));`;

describe("console.log of a trigger", () => {
  test.each([
    ["Node", ["node"]],
    ["Deno", [tool("deno"), "run", "--cached-only", "--no-config", "--no-lock"]],
    ["Bun", [tool("bun"), "run"]],
  ])("shows its rule on %s", async (_runtime, command) => {
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
    for (const part of ["cron", "0 9 * * mon-fri", "UTC"]) expect(output).toContain(part);
  });
});
