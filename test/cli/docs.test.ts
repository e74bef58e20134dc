import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../package/stage.ts";
import { call, folderWith } from "./support.ts";

/** What a page has: files, and commands with what they print. */
type Step =
  | { readonly file: string; readonly text: string }
  | { readonly argv: readonly string[]; readonly printed: readonly string[] };

function stepsOf(page: string): Step[] {
  const steps: Step[] = [];
  for (const [, file, kind, text = ""] of page.matchAll(/(?:<!-- cli: file (\S+) -->\n)?```(\w+)\n([\s\S]*?)```/g)) {
    if (file !== undefined) steps.push({ file, text });
    if (kind !== "console") continue;
    for (const one of text.split(/^\$ /m).slice(1)) {
      const [command = "", ...printed] = one.replace(/\n$/, "").split("\n");
      const argv = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
      steps.push({ argv: argv.slice(1), printed });
    }
  }
  return steps;
}

describe.each(["docs/command-line.md", "docs/crontab.md"])("the commands of %s", (name) => {
  test("print what the page says", async () => {
    const steps = stepsOf(readFileSync(join(ROOT, name), "utf8"));
    await using folder = await folderWith({});
    const shown: string[][] = [];
    const printed: string[][] = [];
    for (const step of steps) {
      if ("file" in step) {
        await writeFile(join(folder.path, step.file), step.text);
        continue;
      }
      const { out, err } = await call(step.argv, { cwd: folder.path, env: { USER: "ada" } });
      shown.push([step.argv.join(" "), ...step.printed]);
      printed.push([step.argv.join(" "), ...out, ...err]);
    }
    expect(printed.length).toBeGreaterThan(1);
    expect(printed).toEqual(shown);
  });
});
