import { join } from "node:path";
import { expect, test } from "vitest";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { exportStore, importStore } from "../../src/transfer/mod.ts";
import { LIBSQL } from "../stores/local-stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { fill, linesOf, textOf } from "./samples.ts";

test("a store that is not open is opened and closed, also where an export ends early or fails", async () => {
  const folder = await temporaryFolder();
  const [from, to] = ["from", "to"].map((name) => LIBSQL.make(join(folder.path, `${name}.db`)));
  if (from === undefined || to === undefined) throw new Error("no stores");
  await from.open(T0);
  await fill(from);
  const open = await linesOf(from);
  // It was open, and stays so.
  expect(from.isOpen).toBe(true);
  await from.close();
  expect((await linesOf(from)).slice(1)).toEqual(open.slice(1));
  expect(from.isOpen).toBe(false);
  for await (const line of exportStore(from)) if (line.includes('"task"')) break;
  expect(from.isOpen).toBe(false);
  await importStore(to, open);
  expect(to.isOpen).toBe(false);
  await expect(importStore(to, open)).rejects.toThrow(/the store has a task/);
  expect(to.isOpen).toBe(false);
  expect(await textOf(to)).toHaveLength(open.length - 6);
  await folder.remove();
});
