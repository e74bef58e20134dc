import { copyFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { afterEach, beforeEach, describe, expect, type TestContext, test } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { makeJob, makeJobs, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { LOCAL_STORES, openWithTables } from "./local-stores.ts";

const SIZE_KIB = 1024;

async function failureOf(doing: Promise<unknown>): Promise<StoreUnavailableError> {
  const failure = await doing.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(failure instanceof StoreUnavailableError)) throw new Error(`not the expected failure: ${String(failure)}`);
  return failure;
}

describe.each(LOCAL_STORES)("$name on a disk", ({ make, whyMissing }) => {
  let disk: SmallDisk | string;
  beforeEach(async () => {
    disk = await SmallDisk.mount(SIZE_KIB);
  });
  afterEach(async () => {
    if (typeof disk !== "string") await disk.remove();
  });

  function mounted({ skip }: TestContext): SmallDisk {
    if (whyMissing !== null) return skip(whyMissing);
    return typeof disk === "string" ? skip(disk) : disk;
  }

  test("that is full says so, keeps what it acknowledged, and goes on when there is room again", async (context) => {
    const here = mounted(context);
    const store = make(join(here.path, "jobs.db"));
    await store.open(T0);
    const kept: string[] = [];
    let failure: unknown = null;
    for (let index = 0; failure === null && index < SIZE_KIB; index++) {
      const id = `job-${String(index).padStart(5, "0")}`;
      const job = makeJob({ id, payload: `"${"x".repeat(4000)}"` });
      try {
        await store.addJobs([job]);
        kept.push(id);
      } catch (error) {
        failure = error;
      }
    }
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toMatch(/full; free space/);
    const ids = async (): Promise<string[]> =>
      (await store.getJobs({ limit: 2000, cursor: null })).items.map(({ id }) => id);
    expect(await ids()).toEqual(kept);
    // An update in place would succeed.
    const check = () => store.inspect(T0, { checksWrites: true });
    for (let tries = 0; tries < 3; tries++) expect((await failureOf(check())).message).toMatch(/full; free space/);
    await here.resize(SIZE_KIB * 16);
    expect((await check()).tasks).toMatchObject([{ waiting: kept.length }]);
    await store.addJobs([makeJob({ id: "last" })]);
    expect(await ids()).toEqual([...kept, "last"]);
    await store.close();
  });

  test("that is full from the beginning says so", async (context) => {
    const here = mounted(context);
    await here.resize(16);
    const store = make(join(here.path, "jobs.db"));
    expect((await failureOf(openWithTables(store))).message).toMatch(/full/);
    await store.close();
  });

  test("that cannot be written says so, and leaves what is there alone", async (context) => {
    const here = mounted(context);
    const file = join(here.path, "jobs.db");
    const first = make(file);
    await first.open(T0);
    await first.addJobs(makeJobs(3));
    // It stays open, because not every SQLite opens a file in WAL mode where it can make no files beside it.
    const names = await readdir(here.path);
    const bytes = await readFile(file);
    const readOnly = await here.mountReadOnly();
    const missing = make(join(readOnly, "new.db"));
    expect((await failureOf(openWithTables(missing))).message).toMatch(/give this process write permission/);
    await missing.close();
    // Opening a database that is up to date writes nothing.
    const existing = make(join(readOnly, "jobs.db"));
    await existing.open(T0);
    expect((await existing.getJobs({ limit: 10, cursor: null })).items.length).toBe(3);
    expect((await failureOf(existing.addJobs([makeJob()]))).message).toMatch(/give this process write permission/);
    await existing.close();
    expect(await readFile(file)).toEqual(bytes);
    await first.close();
    // libSQL's native client closes its handle when the garbage collector comes by, and the files beside it go then.
    const beside = (await readdir(here.path)).filter((name) => !names.includes(name));
    expect(beside).toEqual([]);
  });
});

test("a libSQL file that cannot be written, and that nobody has open, names the files beside it", async ({ skip }) => {
  const disk = await SmallDisk.mount(SIZE_KIB);
  if (typeof disk === "string") return skip(disk);
  try {
    const file = join(disk.path, "jobs.db");
    const client = createClient({ url: `file:${file}` });
    const first = new LibsqlDataStore({ client });
    await first.open(T0);
    await client.execute("PRAGMA journal_mode = WAL");
    await client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    // A closed client keeps its files until the garbage collector comes by, hence a copy.
    await copyFile(file, join(disk.path, "copy.db"));
    const readOnly = await disk.mountReadOnly();
    const store = new LibsqlDataStore({ url: `file:${join(readOnly, "copy.db")}` });
    const { message } = await failureOf(store.open(T0));
    expect(message).toMatch(/the files beside the database \(-wal, -shm\) .* write permission to its folder/);
    await store.close();
    await first.close();
    client.close();
    expect((await readdir(disk.path)).filter((name) => name.startsWith("copy"))).toEqual(["copy.db"]);
  } finally {
    await disk.remove();
  }
});
