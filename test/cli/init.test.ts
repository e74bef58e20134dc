import { readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { ROOT } from "../package/stage.ts";
import { call, folderWith } from "./support.ts";

const FILES = [
  ...[".dev.vars.example", "README.md", ".gitignore", "package.json", "src/index.ts", "src/jobs.ts"],
  ...["tsconfig.json", "wrangler.jsonc"],
];

const COMMENTS = /^\s*\/\/.*$/gm;

describe("escapement init cloudflare", () => {
  test("writes a project, and says what to do next", async () => {
    await using folder = await folderWith({ "notes.txt": "mine" });
    const { code, out, err } = await call(["init", "cloudflare", "jobs"], { cwd: folder.path });
    expect([code, err]).toEqual([0, []]);
    expect(out).toEqual([
      ...FILES.map((file) => `wrote ${join("jobs", file)}`),
      ...["next:", "  cd jobs", "  npm install", "  cp .dev.vars.example .dev.vars", "  npm run dev"],
    ]);
    const text = await readFile(join(folder.path, "jobs/.gitignore"), "utf8");
    expect(text).toContain("/.dev.vars\n");
  });

  const projects: readonly (readonly [folder: string, name: string])[] = [
    ["mail-service", "mail-service"],
    ["Ada's_Shop 2", "ada-s-shop-2"],
    ["--", "jobs"],
    ["x".repeat(80), "x".repeat(63)],
    ["x".repeat(62).concat("-y"), "x".repeat(62)],
    ["日報", "jobs"],
  ];
  test.each(projects)("names the Worker and the database after the folder %s", async (name, expected) => {
    await using folder = await folderWith({});
    await call(["init", "cloudflare", "--", name], { cwd: folder.path });
    const textOf = (file: string): Promise<string> => readFile(join(folder.path, name, file), "utf8");
    expect(JSON.parse(await textOf("package.json")).name).toBe(expected);
    const wrangler = await textOf("wrangler.jsonc");
    const { name: worker, d1_databases: databases } = JSON.parse(wrangler.replaceAll(COMMENTS, ""));
    expect([worker, databases[0].database_name]).toEqual([expected, expected]);
    const commands = [await textOf("README.md"), wrangler].join().match(/d1 create [a-z0-9-]+/g);
    expect(commands).toEqual([`d1 create ${expected}`, `d1 create ${expected}`]);
  });

  test("names it after the folder that it is called in", async () => {
    await using folder = await folderWith({});
    await call(["init", "cloudflare"], { cwd: join(folder.path, "shop") });
    expect(JSON.parse(await readFile(join(folder.path, "shop/package.json"), "utf8")).name).toBe("shop");
  });

  test("overwrites nothing unless it is told to, and names what is there", async () => {
    await using folder = await folderWith({ "package.json": "mine", "README.md": "mine" });
    const { code, err } = await call(["init", "cloudflare"], { cwd: folder.path });
    expect([code, err]).toEqual([
      1,
      [
        ...["error: nothing was written, because these are there already:", "  README.md", "  package.json"],
        "  name another folder, or overwrite them by --force",
      ],
    ]);
    expect((await readdir(folder.path)).sort()).toEqual(["README.md", "package.json"]);
    expect((await call(["init", "cloudflare", "--force"], { cwd: folder.path })).code).toBe(0);
    expect(await readFile(join(folder.path, "package.json"), "utf8")).toContain('"escapement"');
  });

  test("writes nothing where a link leads nowhere, or a file is in the place of a folder", async () => {
    await using folder = await folderWith({ src: "mine" });
    await symlink(join(folder.path, "elsewhere.json"), join(folder.path, "package.json"));
    const { code, err } = await call(["init", "cloudflare"], { cwd: folder.path });
    expect([code, err.slice(1, 3)]).toEqual([1, ["  package.json", "  src"]]);
    expect((await readdir(folder.path)).sort()).toEqual(["package.json", "src"]);
  });

  test.each([
    ["my jobs", 'cd "my jobs"'],
    ["-x", "cd ./-x"],
    ['$HOME"s', "cd '$HOME\"s'"],
  ])("says how to go into the folder %s", async (name, line) => {
    await using folder = await folderWith({});
    const { out } = await call(["init", "cloudflare", "--dry-run", "--json", "--", name], { cwd: folder.path });
    expect(JSON.parse(out.join("")).next[0]).toBe(line);
  });

  test("shows with --dry-run what it would write", async () => {
    await using folder = await folderWith({});
    const { out } = await call(["init", "cloudflare", "--dry-run"], { cwd: folder.path });
    expect(out).toEqual(FILES.map((file) => `would write ${file}`));
    const { out: json } = await call(["init", "cloudflare", "--dry-run", "--json"], { cwd: folder.path });
    expect(JSON.parse(json.join(""))).toMatchObject({ files: FILES });
    expect(await readdir(folder.path)).toEqual([]);
  });

  test("needs the name of a template", async () => {
    expect(await call(["init", "vercel"])).toMatchObject({
      code: 2,
      err: ['error: there is no template "vercel": write cloudflare'],
    });
  });

  test("asks for this version of the package, and of its peer", async () => {
    const text = await readFile(join(ROOT, "examples/cloudflare-template/package.json"), "utf8");
    const { dependencies } = JSON.parse(text);
    expect(dependencies).toEqual({ escapement: `^${manifest.version}`, hono: manifest.peerDependencies.hono });
  });
});
