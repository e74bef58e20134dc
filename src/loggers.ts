/**
 * Adapters that make loggers of pino and LogTape into a `Logger`. A scheduler that is given such a logger adapts it
 * itself.
 *
 * @module
 */
export { fromLogTape, fromPino, type LogTapeLike, type PinoLike } from "./core/log-adapters.ts";
