import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker } from "./bundle-worker.ts";

let worker: Miniflare;

beforeAll(async () => {
  const bundle = await bundleWorker(new URL("./module-scope-worker.ts", import.meta.url));
  worker = new Miniflare({ ...bundle, d1Databases: ["DB"] });
  await worker.ready;
});
afterAll(async () => {
  await worker?.dispose();
});

async function get(path: string): Promise<string> {
  return (await worker.dispatchFetch(`http://worker${path}`)).text();
}

describe("a scheduler that is made at the top of a Worker's module", () => {
  test("works in all requests", async () => {
    for (let times = 0; times < 2; times++) expect(await get("/")).toBe("[1,1]");
    // One tick may run the jobs of both.
    const overlapping = await Promise.all([get("/"), get("/")]);
    const [first, second] = overlapping.map((counts) => JSON.parse(counts) as [number, number]);
    expect([0, 1].map((index) => (first?.[index] ?? 0) + (second?.[index] ?? 0))).toEqual([2, 2]);
  });

  test("says where to call what cannot be called there", async () => {
    expect(await get("/too-early")).toBe(
      "at the top of a Worker's module a scheduler can be made and given tasks; call what asks its store in fetch(), " +
        "scheduled() or alarm()",
    );
  });
});
