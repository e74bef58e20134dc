// What scripts/chaos.mjs runs.
export { Sqld } from "../support/sqld.ts";
export { runChaos } from "./run-chaos.ts";
