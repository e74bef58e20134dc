import type { TestProject } from "vitest/node";
import { Sqld } from "./sqld.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A server for tests in a runtime that cannot start one, or why there is none. */
    sqld?: { readonly url: string } | { readonly problem: string };
  }
}

/** A `globalSetup` of vitest. A server that cannot be started fails the tests that ask for it, not the whole run. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  try {
    const server = await Sqld.start();
    project.provide("sqld", { url: server.httpUrl });
    return () => server.stop();
  } catch (error) {
    project.provide("sqld", { problem: error instanceof Error ? error.message : String(error) });
    return async () => {};
  }
}
