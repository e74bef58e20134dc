import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder under the system's folder for temporary files; `remove` removes it with all that is in it. */
export async function temporaryFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "escapement-test-"));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}
