// Compares the clock changes of every zone of this runtime, as the tables find them, with those of Temporal: from 1970 to
// 2100, and the years after that by their types.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, "run", "test/cron/zone-rules.test.ts", "--reporter=dot"], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  env: { ...process.env, ZONES_ALL: "1" },
  stdio: "inherit",
});
process.exit(status ?? 1);
