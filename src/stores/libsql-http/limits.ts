// Bounds of the driver for Hrana over HTTP, with units and reasons.

/** Redirects that one request follows. Each is a further subrequest of a Worker, which has 50 of them. */
export const REDIRECTS_MAX = 3;

/** Most characters of an answer that an error shows, because errors end up in logs. */
export const ANSWER_SHOWN_LENGTH_MAX = 200;
