/** Longest crontab text or field value, in UTF-16 units. The longest sensible text has a few hundred. */
export const CRON_TEXT_LENGTH_MAX = 1024;

/** Longest canonical crontab text, in UTF-16 units. It may be longer than the original, because a step such as `1/7`
 *  can become a list of values. */
export const CRON_CANONICAL_LENGTH_MAX = 4096;
