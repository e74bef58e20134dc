/** Most tokens of one router. Each request compares all of them. */
export const TOKENS_MAX = 100;

/** Length of a token below which a program is warned: 16 characters of base64 have 96 bits. */
export const TOKEN_LENGTH_MIN = 16;

/** How long a session of a page lasts, in milliseconds: a working day. */
export const SESSION_MS = 43_200_000;

/** How far the clocks of the processes behind one address may be apart, in milliseconds, for a session that one of them
 *  began. A session that ends later than a new one would was begun by a clock that was wrong. */
export const SESSION_SKEW_MS = 300_000;

/** How long a code of a link signs in, in milliseconds: an hour, because somebody may click late on what a program
 *  printed. */
export const SIGN_IN_CODE_MS = 3_600_000;

/** Most unused codes that a router keeps, the newest ones, because a program may make them and nobody use them. */
export const SIGN_IN_CODES_MAX = 100;

/** Wrong tokens that an address may send in a row, and the time after which it may send one more, in milliseconds:
 *  enough for somebody who mistypes, and 10 guesses a minute for somebody who tries. */
export const AUTH_FAILURES_MAX = 10;
export const AUTH_FAILURE_REFILL_MS = 6000;
/** Addresses of which wrong tokens are known, and the longest text of one, in UTF-16 units. Anybody may send from many
 *  addresses, and a proxy may pass on any text as one; an address of IPv6 has 45 units at most. */
export const AUTH_ADDRESSES_MAX = 10_000;
export const AUTH_ADDRESS_LENGTH_MAX = 64;
/** Least time between two lines of the log about wrong tokens, in milliseconds, so that nobody can fill the log from
 *  outside. */
export const AUTH_FAILURES_LOG_MS = 60_000;
