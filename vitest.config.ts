import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { excludedTests, includedTests } from "./test/support/every-runtime.ts";
import { TEST_HANG_MS } from "./test/support/hang.ts";
import { LongestFirst } from "./test/support/longest-first.ts";

// The configuration is loaded by the runtime that the tests then run in.
const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);

export default defineConfig({
  test: {
    include: includedTests(isNode),
    exclude: [
      "test/**/*.workerd.test.ts",
      ...excludedTests(isNode),
      ...(isNode ? [] : ["test/**/*.{node,browser}.test.ts", "test/**/!(libsql-http).server.test.ts"]),
    ],
    globalSetup: fileURLToPath(new URL("./test/support/run-folder.ts", import.meta.url)),
    // Processes rather than threads: a crash in libSQL's native code then fails a test instead of ending the run.
    pool: "forks",
    // One more than there are processors on a small machine: the longest files wait for leases and minutes to pass.
    maxWorkers: isNode ? 3 : 2,
    sequence: { sequencer: LongestFirst },
    // One module graph per worker: a new one for every file would cost more than the tests themselves.
    isolate: false,
    testTimeout: TEST_HANG_MS,
    hookTimeout: TEST_HANG_MS,
  },
});
