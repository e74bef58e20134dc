import { afterAll, beforeAll, expect, test } from "vitest";
import { BareProject } from "../package/bare-project.ts";

let project: BareProject;
beforeAll(async () => {
  project = await BareProject.make("without-libsql");
});
afterAll(() => project[Symbol.asyncDispose]());

test.each(["file:jobs.db", "https://db.example", "wss://db.example"])(
  "without @libsql/client, a store at %s says how to install it, and what needs no package",
  async (url) => {
    const output = await project.outputOf(`
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
  const output = await project.outputOf(`
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
