import type { PGlite } from "@electric-sql/pglite";
import { afterAll, expect, test } from "vitest";
import type { PGliteClient } from "../../src/postgres.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { Random } from "../simulation/random.ts";
import { KeptLibsqlStore } from "../support/kept-libsql.ts";
import { PGliteStores } from "../support/pglite-stores.ts";
import { agree } from "./agreement.ts";

/** More of them, from another one on: `ESCAPEMENT_SEEDS=100-400 npx vitest run test/stores/agreement`. */
const [FROM = 0, UNTIL = 1] = (process.env.ESCAPEMENT_SEEDS ?? "0-1").split("-").map(Number);
const VERBS = 80;
const MANY_ATTEMPTS = { maxAttempts: 100, maxDuration: "1m", backoff: { max: { milliseconds: 1 } } } as const;

const pglite = new PGliteStores();
afterAll(() => pglite.stop());

/** Compares stores over the seeds. Returns how many verbs they were asked. */
async function compare(hasFlow: boolean, makeStores: (seed: number) => Promise<readonly DataStore[]>): Promise<number> {
  let asked = 0;
  for (let seed = FROM; seed < UNTIL; seed++) {
    const sqlite = new KeptLibsqlStore(":memory:");
    const stores = [sqlite, ...(await makeStores(seed))] as const;
    const counts = await agree(stores, { seed, count: VERBS, hasFlow, isLossy: !hasFlow });
    for (const count of counts.values()) asked += count;
    for (const store of stores) await store.close();
  }
  return asked;
}

test("PostgreSQL answers as SQLite does, whatever they are asked", async () => {
  expect(await compare(true, async () => [await pglite.make()])).toBe((UNTIL - FROM) * VERBS);
});

test("PostgreSQL answers as SQLite and the store in memory do, also while its connection is lost all the time", async () => {
  let lost = 0;
  await compare(false, async (seed) => {
    const random = new Random(seed);
    const losing = (client: PGlite): PGliteClient => ({
      waitReady: client.waitReady,
      exec: async (...call: Parameters<PGlite["exec"]>) => {
        const end = random.pick(["answered", "answered", "answered", "answered", "lostBefore", "lostAfter"] as const);
        const answer = end === "lostBefore" ? null : await client.exec(...call);
        if (end === "answered") return answer;
        lost++;
        throw new Error("the connection is lost");
      },
    });
    return [await pglite.make({ retry: MANY_ATTEMPTS }, losing), new MemoryDataStore()];
  });
  expect(lost).toBeGreaterThan((UNTIL - FROM) * 10);
});
