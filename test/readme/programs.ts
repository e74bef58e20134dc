import { readFileSync } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import manifest from "../../package.json" with { type: "json" };
import { pagesOf } from "../../scripts/lib/pages.mjs";
import type { InstalledProject } from "../package/installed.ts";
import { run } from "../package/run.ts";
import { ROOT } from "../package/stage.ts";
import { type CodeBlock, extractCodeBlocks } from "./code-blocks.ts";

/** A block, and the text where it stands. */
interface DocumentedBlock extends CodeBlock {
  readonly document: string;
}

/** A page of these folders is about what one does, and not about runtimes: its programs run on one. */
const GUIDES = /^docs\/(guides|migrate)\//;

/** The texts that show code to users. */
export const DOCUMENTS: readonly string[] = pagesOf(ROOT);

export function blocksOf(document: string): DocumentedBlock[] {
  return extractCodeBlocks(readFileSync(join(ROOT, document), "utf8")).map((block) => ({ ...block, document }));
}

const blocks = DOCUMENTS.flatMap(blocksOf);

/** The blocks that are programs by themselves. */
export const PROGRAMS: readonly DocumentedBlock[] = blocks.filter(
  ({ skipReason, file, isWorker }) => skipReason === null && file === undefined && isWorker !== true,
);

/** Those of the README and the reference: what runs where the guides do not. */
export const PORTABLE_PROGRAMS = PROGRAMS.filter(({ document }) => !GUIDES.test(document));
/** Those without what older versions of Node lack. */
export const OLDER_PROGRAMS = PORTABLE_PROGRAMS.filter(({ code }) => !code.includes('"escapement/sqlite"'));

/**
 * One of three programs, for a runtime beside that which runs all, and all of the README. `npm run test:matrix` takes
 * all.
 *
 * @param first the index of the first: runtimes take different ones
 */
export function thirdOf(programs: readonly DocumentedBlock[], first: 0 | 1 | 2): readonly DocumentedBlock[] {
  if (process.env.ESCAPEMENT_ALL_TESTS !== undefined) return programs;
  return programs.filter(({ document }, index) => document === "README.md" || index % 3 === first);
}

/** Gives a project what the programs import beside the package. */
export async function linkImports(project: InstalledProject): Promise<void> {
  const text = blocks.map(({ code }) => code).join("\n");
  const imported = [...text.matchAll(/ from "((?:@[\w-]+\/)?[\w-]+)(?:\/[^"]*)?"/g)].map(([, name = ""]) => name);
  const names = new Set([...Object.keys(manifest.peerDependencies), ...imported]);
  for (const installed of ["escapement", "@libsql/client"]) names.delete(installed);
  await project.link(names);
}

/**
 * Runs programs one after the other in one process, each in a folder of its own.
 *
 * @param form of the files: TypeScript as it stands in the text, or what Node 20 reads
 * @returns what was printed. It ends with a line that counts those that did what they say
 */
export async function runPrograms(
  programs: readonly DocumentedBlock[],
  project: string,
  command: readonly string[],
  form: "mjs" | "ts",
): Promise<string> {
  const list: object[] = [];
  for (const { document, line, code, expected } of programs) {
    const file = `${folderOf(document)}/line-${line}.${form}`;
    await write(join(project, folderOf(document)), `line-${line}.${form}`, form === "ts" ? code : await lowered(code));
    list.push({ name: `${document}:${line}`, file, expected, isEndless: code.includes("runUntilStopped()") });
  }
  for (const { document, file, code } of blocks) {
    if (file !== undefined) await write(join(project, folderOf(document)), file, await lowered(code));
  }
  await writeFile(join(project, "documented.json"), JSON.stringify(list));
  await copyFile(join(ROOT, "test/package/consumer/documented.js"), join(project, "documented.js"));
  return (await run([...command, "documented.js"], { cwd: project })).output;
}

function folderOf(document: string): string {
  return document.replaceAll(/\W/g, "-");
}

async function write(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
}

/** A program in JavaScript that Node 20 reads. */
export async function lowered(code: string): Promise<string> {
  return (await transform(code, { loader: "ts", target: "es2022", format: "esm" })).code;
}
