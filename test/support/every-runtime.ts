/**
 * The tests that `npm test` runs on Deno, Bun and workerd too: those of what a runtime may do in its own way (files,
 * sockets, timers, threads, time zones, WebAssembly, databases). All others compute the same wherever JavaScript runs,
 * and run on Node; `npm run test:matrix` runs all tests on all runtimes.
 */
const FOLDERS = [
  ...["brokers", "cloudflare", "core", "cron", "edge", "executors", "golden", "http-cron", "runtime", "serializers"],
  ...["hono/auth", "hono/events", "client", "stores"],
];

const FILES = [
  "doors.test.ts",
  "hono/*.server.test.ts",
  "scheduler/*.local.test.ts",
  "scheduler/explain/*.local.test.ts",
  "scheduler/{cancellation,events,life-cycle,tick,timeouts,wakeups}.test.ts",
  "triggers/{preload-zones,temporal,zone-rules}.test.ts",
];

/** What vitest includes. @param isNode whether the tests run on Node */
export function includedTests(isNode: boolean): string[] {
  if (isNode || process.env.ESCAPEMENT_ALL_TESTS !== undefined) return ["test/**/*.test.ts"];
  return [...FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`), ...FILES.map((file) => `test/${file}`)];
}
