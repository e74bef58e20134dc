import { describe, expect, test } from "vitest";
import { builtinModule, environmentVariable, hostName, onSignal, processId } from "../../src/core/host.ts";

interface Host {
  readonly pid?: number;
  readonly env?: Record<string, string | undefined>;
  emit?(signal: string): boolean;
  listenerCount?(signal: string): number;
}

const host = (globalThis as { process?: Host }).process;
const isWorker = (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent === "Cloudflare-Workers";

describe("the host", () => {
  test("gives a built-in module, and undefined for one that it does not have", () => {
    expect(builtinModule("node:async_hooks")).toHaveProperty("AsyncLocalStorage");
    expect(builtinModule("node:no-such-module")).toBeUndefined();
  });

  test("tells its process id and its name, or null", () => {
    expect(processId()).toBe(host?.pid ?? null);
    const name = hostName();
    if (name !== null) expect(name).toMatch(/\S/);
    else expect(isWorker).toBe(true);
  });

  test("tells an environment variable, and undefined for one that is not set", () => {
    if (host?.env !== undefined) host.env.ESCAPEMENT_TEST_VARIABLE = "here";
    expect(environmentVariable("ESCAPEMENT_TEST_VARIABLE")).toBe(host?.env === undefined ? undefined : "here");
    expect(environmentVariable("ESCAPEMENT_NOT_SET")).toBeUndefined();
  });

  test("calls a listener at a signal until it is removed, and leaves no listener behind", () => {
    const before = host?.listenerCount?.("SIGTERM") ?? 0;
    const seen: string[] = [];
    const remove = onSignal(["SIGINT", "SIGTERM"], (signal) => seen.push(signal));
    const hasSignals = (host?.listenerCount?.("SIGTERM") ?? 0) > before;
    // Emitted rather than sent: a real signal would reach the test runner too.
    if (hasSignals) host?.emit?.("SIGTERM");
    remove();
    remove();
    expect(seen).toEqual(hasSignals ? ["SIGTERM"] : []);
    expect(host?.listenerCount?.("SIGTERM") ?? 0).toBe(before);
    expect(hasSignals || isWorker).toBe(true);
  });
});
