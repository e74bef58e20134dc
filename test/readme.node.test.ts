import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "./package/run.ts";
import { ROOT, stagePackage, temporaryFolder } from "./package/stage.ts";
import { type CodeBlock, extractCodeBlocks } from "./readme/code-blocks.ts";
import { answerOfWorker } from "./readme/worker.ts";

describe("the code blocks of a Markdown text", () => {
  test("are its ts blocks, with what the comments before them ask for", () => {
    const markdown = [
      "# Title",
      "```ts",
      "const a = 1;",
      "```",
      "",
      "```sh",
      "rm -rf /",
      "```",
      "<!-- test: continues -->",
      '<!-- test: expect "a > \\"1\\"" -->',
      "",
      "```ts twoslash",
      "console.log(a);",
      "```",
      "- item",
      "  <!-- test: skip because it needs a server -->",
      "  ```typescript",
      "  if (a) {",
      "    b();",
      "  }",
      "  ```",
      "<!-- test: worker -->",
      "```ts",
      "export default {};",
      "```",
      '<!-- test: file "tasks.js" -->',
      "```ts",
      "export const tasks = {};",
      "```",
    ].join("\n");
    expect(extractCodeBlocks(markdown)).toEqual([
      { line: 3, code: "const a = 1;\n", skipReason: null, expected: [] },
      { line: 13, code: "const a = 1;\n\nconsole.log(a);\n", skipReason: null, expected: ['a > "1"'] },
      { line: 18, code: "if (a) {\n  b();\n}\n", skipReason: "it needs a server", expected: [] },
      { line: 24, code: "export default {};\n", skipReason: null, expected: [], isWorker: true },
      { line: 28, code: "export const tasks = {};\n", skipReason: null, expected: [], file: "tasks.js" },
    ]);
  });

  test.each(["skip", "skip because", "expect text", "file ../a.js", "expct"])(
    "are refused with the directive %j",
    (directive) => {
      expect(() => extractCodeBlocks(`<!-- test: ${directive} -->\n\`\`\`ts\n\`\`\`\n`)).toThrow(
        "line 3: unknown directive",
      );
    },
  );
});

const docs = join(ROOT, "docs");
const guides = existsSync(docs) ? readdirSync(docs).filter((name) => name.endsWith(".md") && showsCode(name)) : [];

/** A page about the sources has none. */
function showsCode(guide: string): boolean {
  return extractCodeBlocks(readFileSync(join(docs, guide), "utf8")).length > 0;
}

describe.each(["README.md", ...readdirSync(docs).map((name) => `docs/${name}`)])("the links of %s", (name) => {
  test("lead to files of the repository, or to the web", () => {
    const text = readFileSync(join(ROOT, name), "utf8");
    const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target ?? "");
    const local = targets.filter((target) => !/^https?:/.test(target));
    expect(local.filter((target) => !existsSync(join(ROOT, dirname(name), target)))).toEqual([]);
  });
});

let stage: Awaited<ReturnType<typeof stagePackage>> | undefined;
beforeAll(async () => {
  stage = await stagePackage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

describe.each(["README.md", ...guides.map((name) => `docs/${name}`)])("%s", (name) => {
  const blocks = extractCodeBlocks(readFileSync(join(ROOT, name), "utf8"));

  test("shows code", () => {
    expect(blocks).not.toEqual([]);
  });

  beforeAll(async () => {
    for (const { file, code } of blocks) if (file !== undefined) await write(join(folderOf(name), file), code);
  });

  for (const block of blocks.filter(({ file }) => file === undefined)) {
    test(`does what it says at line ${block.line}`, async ({ skip }) => {
      if (block.skipReason !== null) skip(block.skipReason);
      expect(await outcomeOf(block, stage?.path ?? "", name)).toEqual({ exitCode: 0, missing: [] });
    });
  }
});

/** Where the programs of a text lie: inside the package's folder, where "escapement" names the package itself. */
function folderOf(document: string): string {
  return join(stage?.path ?? "", "readme", document.replaceAll(/\W/g, "-"));
}

async function write(path: string, code: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, (await transform(code, { loader: "ts", target: "es2022", format: "esm" })).code);
}

/** Runs a block from the built package: a Worker in workerd, anything else on Node in an empty folder. */
async function outcomeOf(block: CodeBlock, packageFolder: string, document: string): Promise<object> {
  if (block.isWorker !== true) return outcomeOnNode(block, document);
  const answer = await answerOfWorker(block.code, packageFolder);
  return { exitCode: 0, missing: block.expected.filter((text) => !answer.includes(text)) };
}

async function outcomeOnNode({ code, line, expected }: CodeBlock, document: string): Promise<object> {
  await using folder = await temporaryFolder("readme");
  const program = join(folderOf(document), `line-${line}.mjs`);
  await write(program, code);
  const missingIn = (output: string): string[] => expected.filter((text) => !output.includes(text));
  const isComplete = (output: string): boolean => missingIn(output).length === 0;
  const ended = await run(["node", program], {
    cwd: folder.path,
    ...(expected.length > 0 && { until: isComplete }),
  });
  const missing = missingIn(ended.output);
  // A program that was ended because it had printed everything has no exit code.
  const hasSucceeded = missing.length === 0 && (ended.exitCode === 0 || expected.length > 0);
  return hasSucceeded ? { exitCode: 0, missing } : { exitCode: ended.exitCode, missing, output: ended.output };
}
