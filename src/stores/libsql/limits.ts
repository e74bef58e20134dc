// Bounds of the libSQL store, with units and reasons.

export { REMOTE_TIMEOUT_MS_DEFAULT, TABLE_PREFIX_LENGTH_MAX } from "../sqlite/limits.ts";
