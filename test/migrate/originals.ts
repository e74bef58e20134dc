import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { run } from "../package/run.ts";
import { ROOT } from "../package/stage.ts";
import { extractCodeBlocks } from "../readme/code-blocks.ts";

const FOLDER = "docs/migrate";
const FENCE = /(?:^<!-- not run: (?<reason>.+) -->\n)?^```(?<language>js|python)\n(?<code>[\s\S]*?)^```/gm;

/** A program of a page as it was before: of another library. */
export interface Original {
  readonly page: string;
  readonly line: number;
  readonly language: "js" | "python";
  readonly code: string;
  /** Why no test runs it; null for one that runs. */
  readonly notRun: string | null;
  /** What the program of this library, which follows on the page, is tested to print. */
  readonly expected: readonly string[];
}

/** The programs of other libraries on all pages. */
export function originals(): Original[] {
  return readdirSync(join(ROOT, FOLDER)).flatMap((page) => {
    const text = readFileSync(join(ROOT, FOLDER, page), "utf8");
    const ours = extractCodeBlocks(text);
    return [...text.matchAll(FENCE)].map((match) => {
      const { reason, language, code = "" } = match.groups ?? {};
      const line = text.slice(0, match.index).split("\n").length;
      const expected = ours.find((block) => block.line > line)?.expected ?? [];
      return { page, line, language: language as Original["language"], code, notRun: reason ?? null, expected };
    });
  });
}

/** Runs a program of another library in a folder that finds the packages of the repository. @returns what it printed */
export async function runOriginal(
  folder: string,
  { language, code }: Pick<Original, "language" | "code">,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, language === "js" ? "program.mjs" : "program.py");
  await writeFile(file, code);
  if (language === "js") await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"), "dir").catch(() => {});
  const command = language === "js" ? process.execPath : (pythonWithAPScheduler() ?? "python3");
  const { exitCode, output } = await run([command, file, ...args], {
    cwd: folder,
    // Its tracebacks and its warnings about time zones are none of the programs' doing.
    env: { PYTHONWARNINGS: "ignore", PYTHONUNBUFFERED: "1", ...env },
  });
  if (exitCode !== 0) throw new Error(`the program ended with ${exitCode}:\n${output}`);
  return output;
}

let python: string | null | undefined;

/** A Python that has APScheduler 3, which is Debian's: the first `python3` of the search path may be another one. */
export function pythonWithAPScheduler(): string | null {
  const check = "import apscheduler; assert apscheduler.__version__.startswith('3.')";
  python ??= ["python3", "/usr/bin/python3"].find((one) => spawnSync(one, ["-c", check]).status === 0) ?? null;
  return python;
}

export const NO_APSCHEDULER = "there is no Python with APScheduler 3 here (Debian's package python3-apscheduler)";
