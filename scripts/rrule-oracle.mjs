// Compares the triggers of `escapement/rrule` with python3-dateutil over 20,000 random rules, half of them in UTC and
// half in time zones (or as many as the first argument says, with the seed of the second), and says how to repeat it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu"];
const count = Number(process.argv[2] ?? "20000");
const seed = process.argv[3] ?? String(Math.floor(Math.random() * 2 ** 31));
const generator = fileURLToPath(new URL("lib/rrule_oracle.py", import.meta.url));
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

if (spawnSync("python3", ["-c", "import dateutil"]).status !== 0) {
  console.log("skipped: there is no python3 with dateutil here (Debian's package python3-dateutil)");
  process.exit(0);
}
console.log(`node scripts/rrule-oracle.mjs ${count} ${seed}`);
const folder = mkdtempSync(join(tmpdir(), "rrule-oracle-"));
try {
  const file = join(folder, "rules.jsonl");
  const made = [["UTC"], ZONES].map((zones) => {
    const args = [generator, String(Math.ceil(count / 2)), seed, ...zones];
    return spawnSync("python3", args, { encoding: "utf8", maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "inherit"] });
  });
  writeFileSync(file, made.map(({ stdout }) => stdout).join(""));
  const { status } = spawnSync(process.execPath, [vitest, "run", "test/rrule/oracle.node.test.ts"], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    env: { ...process.env, RRULE_RULES: file },
    stdio: "inherit",
  });
  process.exitCode = made.every((run) => run.status === 0) ? (status ?? 1) : 1;
} finally {
  rmSync(folder, { recursive: true });
}
