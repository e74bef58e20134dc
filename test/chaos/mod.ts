// What scripts/chaos.mjs runs.
export { Sqld } from "../support/sqld.ts";
export { whyNoSqlite } from "../support/sqlite-store.ts";
export { BrokerServer } from "./broker-server.ts";
export { PostgresPair, sqldOf } from "./chaos-server.ts";
export { killJob } from "./kill-job.ts";
export { runChaos } from "./run-chaos.ts";
