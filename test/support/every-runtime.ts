/**
 * The tests that `npm test` runs on Deno, Bun and workerd too: those of what a runtime may do in its own way (files,
 * sockets, timers, threads, time zones, WebAssembly, databases). All others compute the same wherever JavaScript runs,
 * and run on Node; `npm run test:matrix` runs all tests on all runtimes.
 */
const FOLDERS = [
  ...["brokers", "cloudflare", "core", "cron", "edge", "executors", "golden", "http-cron", "runtime", "serializers"],
  ...["hono/auth", "hono/events", "client", "notices", "stores", "transfer"],
];

const FILES = [
  "doors.test.ts",
  "hono/*.server.test.ts",
  "scheduler/*.local.test.ts",
  "scheduler/{cancellation,events,life-cycle,tick,timeouts,wakeups}.test.ts",
  "triggers/{preload-zones,temporal,zone-rules}.test.ts",
];

/**
 * What the folders above have beside: what the library does with SQL, over a driver or behind a stand-in for one, and
 * how a broker gets over an outage. The contracts of stores and brokers, which run on every runtime, are what drivers
 * have a part in.
 */
const OF_NODE = [
  "brokers/{half-open,postgres/outages,redis/outages}.local",
  "scheduler/{adding-together,bulk-trips,restored-backup,rolling-deploy,round-trips,tick-trips}.local",
  "stores/{agreement,damaged-ledger,damaged-rows,histories,labels,libsql-statements,schema-check}.local",
  "stores/{postgres,postgres-outages,prepared-jobs,prepared-jobs-postgres}.local",
  "stores/{broken-stores,statement-rules}",
  "cron/residency",
  "stores/sqlite-{chains,changes,flow,job-steps,ledger,overlaps,commits,windows}.local",
];

const isWhole = process.env.ESCAPEMENT_ALL_TESTS !== undefined;

/** What vitest includes. @param isNode whether the tests run on Node */
export function includedTests(isNode: boolean): string[] {
  if (isNode || isWhole) return ["test/**/*.test.ts"];
  return [...FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`), ...FILES.map((file) => `test/${file}`)];
}

/** What vitest leaves out of that. @param isNode whether the tests run on Node */
export function excludedTests(isNode: boolean): string[] {
  return isNode || isWhole ? [] : OF_NODE.map((file) => `test/${file}.test.ts`);
}
