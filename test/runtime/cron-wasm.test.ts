import { expect, test } from "vitest";
import module from "#cron-wasm";

const isWorkerd = globalThis.navigator?.userAgent === "Cloudflare-Workers";

test("#cron-wasm is a compiled module", () => {
  expect(module).toBeInstanceOf(WebAssembly.Module);
});

test(`#cron-wasm comes from ${isWorkerd ? "the static import of workerd.js" : "embedded.js"}`, async () => {
  // Each file fails to load on the other runtimes, so only the one that should be in use is imported.
  const path = isWorkerd ? "../../wasm/dist/workerd.js" : "../../wasm/dist/embedded.js";
  const expected: { default: WebAssembly.Module } = await import(/* @vite-ignore */ path);
  expect(module).toBe(expected.default);
});
