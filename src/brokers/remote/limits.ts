// Bounds of brokers that carry events over a network, with units and reasons.

/** How long `open()` waits for the first connection, in milliseconds: longer than a server that lives takes. */
export const CONNECT_WAIT_MS = 3000;

/** Longest wait for one connection that a broker makes itself, in milliseconds. A server that lives answers sooner, and
 *  an address that drops packets would hold the try for minutes. */
export const CONNECT_TIMEOUT_MS = 5000;

/** How long such a connection is silent before its system or its MQTT client tests it, in milliseconds, so that a
 *  server, a proxy or a translation of addresses that forgot it is noticed. */
export const KEEP_ALIVE_MS = 10_000;

/** How often a broker pings its server, and how long it waits for the answer, in milliseconds. A connection that is
 *  dead although nobody ended it is noticed within the sum; a server that is only busy answers within the second. */
export const HEARTBEAT_MS = 15_000;
export const PING_WAIT_MS = 10_000;

/** First and longest pause before another try to connect, in milliseconds. The longest is short, because until then
 *  every wake-up is late. */
export const RECONNECT_PAUSE_MS_MIN = 50;
export const RECONNECT_PAUSE_MS_MAX = 1000;

/** Most bytes of messages that wait for the answer of the server. A server that hangs takes none. */
export const PENDING_BYTES_MAX = 32_000_000;

/** Most publishers whose last number is remembered. The one that was silent for longest is forgotten first. */
export const PUBLISHERS_MAX = 10_000;

/** A message whose number is lower than the last one by less than this was there before: servers send a message again
 *  soon, or never. One that is further back shows that the last number was forged. */
export const DOUBLE_DISTANCE_MAX = 1000;

/** Longest texts of an error within an event that is too large for a message, in UTF-16 units, from the first try to
 *  make it fit to the last: the event still comes, and keeps as much of its error as the server takes. */
export const SLIM_TEXT_LENGTHS = [2000, 500, 100] as const;

/** Longest text of a failure in the log or in an error, in UTF-16 units, because a server or a driver may put anything
 *  into it. */
export const FAILURE_LENGTH_MAX = 500;
