import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { includedTests } from "./test/support/every-runtime.ts";
import { TEST_HANG_MS } from "./test/support/hang.ts";

export default defineConfig({
  plugins: [
    cloudflareTest({
      // The Worker whose bindings and Durable Objects the tests use; it shares an isolate with them.
      main: fileURLToPath(new URL("./test/support/workerd-main.ts", import.meta.url)),
      miniflare: {
        compatibilityDate: "2026-04-26",
        compatibilityFlags: ["nodejs_compat"],
        // As wrangler does in production: a `.wasm` import is a compiled WebAssembly.Module.
        modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
        d1Databases: ["DB"],
        durableObjects: {
          SQL_OBJECT: { className: "SqlObject", useSQLite: true },
          KEY_VALUE_OBJECT: { className: "KeyValueObject", useSQLite: false },
        },
      },
    }),
  ],
  test: {
    include: includedTests(false),
    exclude: ["test/**/*.{node,browser,local}.test.ts", "test/**/!(*-web|libsql-http).server.test.ts"],
    // On Node: nothing in workerd can start a server.
    globalSetup: fileURLToPath(new URL("./test/support/sqld-setup.ts", import.meta.url)),
    // Tests in workerd see no other variables of this process.
    env: process.env.ESCAPEMENT_ALL_TESTS === undefined ? {} : { ESCAPEMENT_ALL_TESTS: "1" },
    // One worker for all files: starting workerd costs seconds.
    maxWorkers: 1,
    isolate: false,
    testTimeout: TEST_HANG_MS,
    hookTimeout: TEST_HANG_MS,
  },
});
