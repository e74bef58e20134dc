/** How long an answer to everybody, whether the store can be reached, is given again without a look, in milliseconds:
 *  whoever asks often then costs one look a second. */
export const READINESS_KEPT_MS = 1000;

/** Largest body of a request, in bytes: a payload of the largest size in ASCII, and what goes with it. Largest body of
 *  a preview: a trigger may hold others, and 683 KB of them took 1.6 s. Largest body of a sign-in. */
export const BODY_BYTES_MAX = 1_100_000;
export const PREVIEW_BODY_BYTES_MAX = 16_384;
export const SESSION_BODY_BYTES_MAX = 4096;
