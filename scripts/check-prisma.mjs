// @ts-check

// Runs prepared jobs in transactions of Prisma, against a PostgreSQL server of its own:
//
//   node scripts/check-prisma.mjs
//
// No test of the suite, because Prisma is 300 MB and needs a client that is generated. It is installed into a temporary
// folder, and the program there runs on Bun, which takes the TypeScript that Prisma generates.

import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundleImport } from "./lib/bundle-import.mjs";

const PACKAGES = ["prisma@7", "@prisma/client@7", "@prisma/adapter-pg@7"];
const SCHEMA = `
generator client {
  provider   = "prisma-client"
  output     = "./generated"
  engineType = "client"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id String @id
  @@map("orders")
}
`;
const root = fileURLToPath(new URL("..", import.meta.url));
const PROGRAM = `
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/client.ts";
import { Scheduler } from ${JSON.stringify(join(root, "src/mod.ts"))};
import { PostgresDataStore } from ${JSON.stringify(join(root, "src/postgres.ts"))};

const url = process.argv[2];
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
await prisma.$executeRawUnsafe("CREATE TABLE orders (id text PRIMARY KEY)");
const scheduler = new Scheduler({ dataStore: new PostgresDataStore({ url }), logLevel: "warn" });
const ship = scheduler.task("ship", (order) => order);
await scheduler.start();
const told = (text) => ({ payload: text, metadata: { text }, labels: { text: "a" }, concurrencyKey: text, priority: 3 });
for (const end of ["commit", "rollback"]) {
  const text = "'?1 $1 \\\\ \\u00fc " + end;
  const { job, statements, committed } = await scheduler.prepareJob(ship, told(text));
  const transaction = prisma.$transaction(async (tx) => {
    await tx.order.create({ data: { id: end } });
    for (const { sql, args } of statements) await tx.$executeRawUnsafe(sql, ...args);
    if (end === "rollback") throw new Error("undone");
  });
  if (end === "commit") {
    await transaction;
    await committed();
    if ((await job.wait()) !== text) throw new Error("the job was told something else");
  } else {
    const isUndone = await transaction.then(() => false, (error) => error.message === "undone");
    const isThere = await job.refresh().then(() => true, () => false);
    if (!isUndone || isThere) throw new Error("a job is left of a transaction that was undone");
  }
}
if ((await prisma.order.count()) !== 1) throw new Error("there must be one order");
await scheduler.stop();
await prisma.$disconnect();
`;

const { PostgresServer } = await bundleImport("test/support/postgres-server.ts");
const folder = await mkdtemp(join(tmpdir(), "escapement-prisma-"));
// Only migrations need the engine, which would be fetched now.
const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, ...process.env };
/** @param {string} command @param {string[]} args */
const run = (command, ...args) => execFileSync(command, args, { cwd: folder, env, stdio: "inherit" });
const server = await PostgresServer.start();
try {
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "schema.prisma"), SCHEMA);
  await writeFile(join(folder, "run.ts"), PROGRAM);
  run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", ...PACKAGES);
  run("node_modules/.bin/prisma", "generate", "--schema", "schema.prisma");
  run(join(root, "node_modules/.bin/bun"), "run.ts", server.url);
  console.log("Prisma's transactions add jobs if and only if they commit");
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
