import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../package/run.ts";
import { ROOT, stagePackage, temporaryFolder, tool } from "../package/stage.ts";

/** The first program of a chapter of docs/edge.md. */
async function programOf(title: string): Promise<string> {
  const page = await readFile(join(ROOT, "docs/edge.md"), "utf8");
  const chapter = page.slice(page.indexOf(`\n${title}\n`));
  return /```ts\n(.*?)```/s.exec(chapter)?.[1] ?? "";
}

test("the template compiles under its own tsconfig, with the examples of a Durable Object beside it", async () => {
  await using stage = await stagePackage();
  await using folder = await temporaryFolder("template");
  await cp(join(ROOT, "examples/cloudflare-template"), folder.path, { recursive: true });
  await mkdir(join(folder.path, "node_modules"));
  await symlink(stage.path, join(folder.path, "node_modules/escapement"), "dir");
  for (const name of ["hono", "@cloudflare"]) {
    await symlink(join(ROOT, "node_modules", name), join(folder.path, "node_modules", name), "dir");
  }
  const programs = [await programOf("## A Durable Object"), await programOf("### A router in the object")];
  for (const [index, program] of programs.entries()) {
    expect(program).toContain("SchedulerDurableObject");
    await writeFile(join(folder.path, `src/object-${index}.ts`), program);
  }
  expect(await run([tool("tsc"), "-p", folder.path], { cwd: folder.path })).toMatchObject({ exitCode: 0, output: "" });
});
