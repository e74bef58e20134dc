import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { LIBSQL } from "../stores/local-stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { rollingDeployCases } from "./rolling-deploy.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

let files = 0;

describe("on a file", () => {
  rollingDeployCases(async (serializers) => {
    const path = join(folder.path, `deploy-${++files}.db`);
    const make = (version: keyof typeof serializers): ReturnType<typeof LIBSQL.make> =>
      LIBSQL.make(path, { durability: "normal", serializer: serializers[version] });
    return { old: make("old"), new: make("new") };
  });
});
