import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test("the next turn comes where setImmediate is there and throws, and is asked once", async () => {
  let calls = 0;
  vi.stubGlobal("setImmediate", () => {
    calls++;
    throw new Error("not supported by this runtime");
  });
  vi.resetModules();
  const { timerHost } = await import("../../src/core/timer-host.ts");
  await new Promise<void>((resolve) => timerHost.nextTurn(resolve));
  await new Promise<void>((resolve) => timerHost.nextTurn(resolve));
  expect(calls).toBe(1);
});
