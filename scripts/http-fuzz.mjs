// Sends a hundred thousand hostile requests to the router (or as many as the first argument says), with a random seed
// (or the second argument), and says how to repeat the run and what was answered.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const cases = process.argv[2] ?? "100000";
const seed = process.argv[3] ?? String(Math.floor(Math.random() * 2 ** 31));
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

console.log(`node scripts/http-fuzz.mjs ${cases} ${seed}`);
const { status } = spawnSync(process.execPath, [vitest, "run", "test/hono/fuzz"], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  env: { ...process.env, FUZZ_CASES: cases, FUZZ_SEED: seed },
  stdio: "inherit",
});
process.exit(status ?? 1);
