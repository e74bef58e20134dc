/** Most UTF-16 units of payloads and metadata that one commit adds. It would hold up the event loop for long. */
export const ADDITION_LENGTH_MAX = 16_000_000;
