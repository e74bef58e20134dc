import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder under the system's folder for temporary files; `remove` removes it with all that is in it. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes a new folder. */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), "escapement-test-"));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}
