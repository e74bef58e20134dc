/** Most problems that the error of wrong options lists: each costs time, and who sends options may be a stranger. */
export const ISSUES_MAX = 50;
/** Largest text of the problems in an answer, in bytes, and of the sentence about them, in UTF-16 units. Both stay
 *  below 64 KB, so that nobody gets far more back than was sent. */
export const PROBLEM_ISSUES_BYTES_MAX = 32_768;
export const PROBLEM_DETAIL_LENGTH_MAX = 4096;

/** Longest duration in options, in milliseconds: a thousand years. Temporal can represent the sum of such a duration
 *  and any fire time. */
export const DURATION_MS_MAX = 31_557_600_000_000;
