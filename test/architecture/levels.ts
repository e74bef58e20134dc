/** Which level each folder of `src` belongs to. A level imports only lower levels; a folder, only itself and those. */
export const LEVELS: Readonly<Record<string, number>> = {
  core: 0,
  cron: 1,
  records: 1,
  triggers: 2,
  serializers: 2,
  stores: 3,
  brokers: 3,
  executors: 3,
  scheduler: 4,
  http: 5,
  cloudflare: 5,
  cli: 5,
  testing: 5,
};

/** The highest level that `src/mod.ts` may name: everything above it is a subpath of its own. */
export const LEVEL_OF_MOD_MAX = 4;

/** Where host globals and `node:*` may stand: the outermost level, and what exists for one runtime alone. */
export const HOST_ROOMS: readonly RegExp[] = [
  /^src\/(http|cloudflare|cli|testing)\//,
  /^src\/executors\/(worker|process)\b/,
  /^src\/executors\/job-storage\.ts$/,
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
  hono: /^src\/(http|cloudflare)\//,
  "@hono/standard-validator": /^src\/http\//,
  "@valibot/to-json-schema": /^src\/http\//,
  vitest: /^src\/testing\//,
};

/** Where time and randomness come from: the rest of the library is given them. */
export const TIME_ROOM: RegExp = /^src\/core\//;

/** Where `AbortSignal.timeout` may bound real input and output, which no virtual clock moves. */
export const IO_TIMEOUT_ROOM: RegExp = /^src\/(stores|brokers)\//;
