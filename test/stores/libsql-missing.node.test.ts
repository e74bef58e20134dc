import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runOk } from "../package/run.ts";
import { ROOT, stagePackage, temporaryFolder } from "../package/stage.ts";

// A project that has installed the package alone, without @libsql/client.

let project = "";
const cleanup: AsyncDisposable[] = [];

beforeAll(async () => {
  const [stage, folder] = [await stagePackage(), await temporaryFolder("without-libsql")];
  cleanup.push(stage, folder);
  project = folder.path;
  const modules = join(project, "node_modules");
  await mkdir(join(modules, "escapement"), { recursive: true });
  for (const name of ["package.json", "dist", "wasm"]) {
    await cp(join(stage.path, name), join(modules, "escapement", name), { recursive: true });
  }
  for (const name of ["temporal-polyfill", "temporal-utils", "valibot"]) {
    await symlink(join(ROOT, "node_modules", name), join(modules, name), "dir");
  }
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
});
afterAll(async () => {
  for (const item of cleanup) await item[Symbol.asyncDispose]();
});

async function outputOf(program: string): Promise<string> {
  await writeFile(join(project, "program.js"), program);
  return runOk(["node", "program.js"], { cwd: project });
}

test.each(["file:jobs.db", "https://db.example", "wss://db.example"])(
  "without @libsql/client, a store at %s says how to install it, and what needs no package",
  async (url) => {
    const output = await outputOf(`
      import { LibsqlDataStore } from "escapement/libsql";
      const store = new LibsqlDataStore({ url: "${url}" });
      await store.open(Date.now()).catch(({ name, message, cause }) => console.log(name, message, cause.code));
    `);
    expect(output).toBe(
      "StoreUnavailableError opening a database by its url needs the package @libsql/client, which is missing: " +
        "npm install @libsql/client, or pass { client }. LibsqlDataStore of escapement/libsql/http (for sqld and " +
        "Turso), and SqliteDataStore of escapement/sqlite (for files) need no package ERR_MODULE_NOT_FOUND\n",
    );
  },
);

test("without @libsql/client, a client of one's own and escapement/libsql/http work", async () => {
  const output = await outputOf(`
    import { LibsqlDataStore } from "escapement/libsql";
    import { LibsqlDataStore as HttpStore } from "escapement/libsql/http";
    const answer = async () => ({ rows: [] });
    const client = { execute: answer, batch: async (statements) => statements.map(() => ({ rows: [] })), close() {} };
    const byClient = new LibsqlDataStore({ client });
    await byClient.open(Date.now());
    const overFetch = new HttpStore({ url: "https://db.example" });
    await overFetch.open(Date.now());
    console.log("open");
    await byClient.close();
    await overFetch.close();
  `);
  expect(output).toBe("open\n");
});
