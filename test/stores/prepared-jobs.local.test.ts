import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LIBSQL_APPLICATIONS, SQLITE_APPLICATION, withApplication } from "./application.ts";
import { PREPARED_JOB_CASES } from "./prepared-jobs.ts";
import { PREPARED_STEP_CASES } from "./prepared-steps.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

for (const kind of [...LIBSQL_APPLICATIONS, SQLITE_APPLICATION]) {
  describe(`prepared jobs on a file, by ${kind.name}`, () => {
    for (const { name, run } of PREPARED_JOB_CASES) {
      test(name, async ({ skip }) => {
        if (kind.whyMissing !== null) skip(kind.whyMissing);
        const path = join(folder.path, `${++files}.db`);
        await withApplication(kind, kind === SQLITE_APPLICATION ? path : `file:${path}`, run);
      });
    }
  });
  describe(`prepared steps on a file, by ${kind.name}`, () => {
    for (const { name, run } of PREPARED_STEP_CASES) {
      test(name, async ({ skip }) => {
        if (kind.whyMissing !== null) skip(kind.whyMissing);
        const path = join(folder.path, `${++files}.db`);
        await withApplication(
          kind,
          kind === SQLITE_APPLICATION ? path : `file:${path}`,
          async (application, _, store) => {
            await store.open(T0);
            await run(application, store);
          },
        );
      });
    }
  });
}
