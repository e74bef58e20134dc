/** Which level each folder of `src` belongs to. A level imports only lower levels; a folder, only itself and those. */
export const LEVELS: Readonly<Record<string, number>> = {
  core: 0,
  cron: 1,
  records: 1,
  triggers: 2,
  serializers: 2,
  crontab: 3,
  stores: 3,
  brokers: 3,
  executors: 3,
  rrule: 3,
  scheduler: 4,
  hono: 5,
  client: 5,
  observability: 5,
  "http-cron": 5,
  cloudflare: 5,
  transfer: 5,
  notices: 5,
  "task-server": 5,
  nestjs: 5,
  testing: 5,
  insight: 6,
  mcp: 6,
  fastify: 6,
  dashboard: 7,
  cli: 8,
};

/** The doors and programs of the package that name more than their folder may, and the highest level of each. A folder's
 *  `mod.ts` that is not here has its folder's level. No file imports them. */
export const DOORS: Readonly<Record<string, number>> = {
  "src/mod.ts": 4,
  "src/contracts.ts": 3,
  "src/executors/process/process-entry.ts": 5,
  "src/executors/worker/browser/mod.ts": 5,
  "src/executors/worker/mod.ts": 5,
  "src/executors/worker/thread-entry.ts": 5,
  "src/cron.ts": 2,
  "src/loggers.ts": 0,
  "src/postgres.ts": 3,
  "src/scheduler.ts": 4,
  "src/testing/contracts.ts": 5,
};

/** The floors within `src/scheduler`, by room (a folder) or file. What stands on a floor imports only lower floors; within
 *  a room, any file of it. */
export const SCHEDULER_FLOORS: Readonly<Record<string, number>> = {
  options: 1,
  events: 1,
  views: 2,
  steps: 2,
  commands: 3,
  "scheduler-client.ts": 4,
  tasks: 5,
  "environment.ts": 5,
  firing: 6,
  running: 6,
  ledger: 6,
  verbs: 7,
  driving: 7,
  "scheduler.ts": 8,
  "scheduler-with-store.ts": 9,
};

/** Where host globals and `node:*` may stand: the outermost level, and what exists for one runtime alone. */
export const HOST_ROOMS: readonly RegExp[] = [
  /^src\/(cloudflare|cli|testing)\//,
  /^src\/executors\/(worker|process)\b/,
  /^src\/core\/host\.ts$/,
  /^src\/stores\/(node|bun)-sqlite\//,
  /^src\/brokers\/(redis|mqtt|postgres)\b/,
];

/** Where each package may be imported. The core stays small because nothing joins this list unnoticed. */
export const PACKAGE_ROOMS: Readonly<Record<string, RegExp>> = {
  "#cron-wasm": /^src\/cron\//,
  "temporal-polyfill": /^src\/core\/temporal\.ts$/,
  // Triggers stand alone in `escapement/cron`, which is without it.
  valibot: /^src\/(?!cron\/|triggers\/)/,
  "@standard-schema/spec": /^src\//,
  devalue: /^src\/serializers\//,
  "@libsql/client": /^src\/stores\/libsql\//,
  ioredis: /^src\/(brokers\/redis\/|cli\/import\/sources\.ts)/,
  "@redis/client": /^src\/cli\/import\/sources\.ts/,
  mqtt: /^src\/brokers\/mqtt\//,
  postgres: /^src\/((brokers|stores)\/postgres\/|cli\/import\/sources\.ts)/,
  pg: /^src\/cli\/import\/sources\.ts/,
  hono: /^src\/(hono|cloudflare|fastify)\//,
  "@opentelemetry/api": /^src\/observability\/otel\//,
  "@modelcontextprotocol/sdk": /^src\/(mcp\/|cli\/commands\/mcp\.ts)/,
  fastify: /^src\/fastify\//,
  "@nestjs/common": /^src\/nestjs\//,
  "@nestjs/core": /^src\/nestjs\//,
  preact: /^src\/dashboard\/page\//,
  vitest: /^src\/testing\//,
  commander: /^src\/cli\//,
  picocolors: /^src\/cli\//,
  yaml: /^src\/cli\/import\//,
  "@hono/node-server": /^src\/(cli\/serve\.ts$|fastify\/)/,
  jiti: /^src\/cli\/load-module\.ts$/,
};

/** Where time and randomness come from: the rest of the library is given them. The page runs in a browser. */
export const TIME_ROOM: RegExp = /^src\/(core|dashboard\/page)\//;

/** Where `AbortSignal.timeout` may bound real input and output, which no virtual clock moves. */
export const IO_TIMEOUT_ROOM: RegExp = /^src\/(stores|brokers|client)\//;

/** Public classes that several files declare under one name, because what users see of a class is the name that it was
 *  declared with. One door has another file on other runtimes; the doors of `Scheduler` are two. */
export const SHARED_NAMES: Readonly<Record<string, readonly string[]>> = {
  LibsqlDataStore: [
    "src/stores/libsql-http/store.ts",
    "src/stores/libsql-workerd/store.ts",
    "src/stores/libsql/store.ts",
  ],
  Scheduler: ["src/scheduler/scheduler-with-store.ts", "src/scheduler/scheduler.ts"],
  SqliteDataStore: ["src/stores/bun-sqlite/mod.ts", "src/stores/node-sqlite/mod.ts"],
  WorkerExecutor: ["src/executors/worker/browser/web-worker-executor.ts", "src/executors/worker/worker-executor.ts"],
};
