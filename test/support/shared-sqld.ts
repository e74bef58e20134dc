import { inject } from "vitest";

/** A server for one test file, on any runtime: inside workerd, where a file cannot start one, the server that
 *  vitest.workerd.config.ts has started. */
export async function sharedSqld(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const provided = inject("sqld");
  if (provided === undefined) {
    const { Sqld } = await import("./sqld.ts");
    const server = await Sqld.start();
    return { url: server.httpUrl, stop: () => server.stop() };
  }
  if ("problem" in provided) throw new Error(provided.problem);
  return { url: provided.url, stop: async () => {} };
}
