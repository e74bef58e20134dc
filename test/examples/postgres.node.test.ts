import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { Child, ROOT } from "../support/child.ts";
import { freePort } from "../support/free-port.ts";
import { giveFolder, plainUser, runTool, serverBinary, versionFolders } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("examples/postgres starts a server, and runs a job that a transaction of another process adds", async () => {
  const folder = await temporaryFolder();
  const user = plainUser("postgres", "nobody");
  await giveFolder(folder.path, user);
  const data = join(folder.path, "data");
  const script = await readFile(join(ROOT, "examples/postgres/local-server.sh"), "utf8");
  const port = `${await freePort()}`;
  runTool(user, "/bin/sh", "-c", script, "local-server.sh", port, data);
  onTestFinished(async () => {
    const stop = serverBinary("pg_ctl", "postgresql", versionFolders("/usr/lib/postgresql", "bin"));
    runTool(user, stop, "-D", data, "-m", "immediate", "stop");
    await folder.remove();
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const variables = { DATABASE_URL: url, DIRECT_URL: url };
  const command = [process.execPath, join(ROOT, "scripts/start.mjs"), "postgres/reports"];
  const worker = new Child([...command, "worker"], variables);
  await worker.prints(/waiting for jobs/);
  const order = new Child([...command, "order", "7"], variables);
  expect([await order.ended, order.output.trim()]).toEqual([0, "order 7 shipped"]);
  worker.process.kill("SIGINT");
  expect(await worker.ended).toBe(0);
});
