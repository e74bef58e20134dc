// Bounds of the libSQL store, with units and reasons.

export { REMOTE_TIMEOUT_MS_DEFAULT } from "../sqlite/limits.ts";
