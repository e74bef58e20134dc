/** Events that an async iterator keeps for a slow reader before it drops the oldest: a reader that has stopped would
 *  hold memory without end. */
export const EVENT_BUFFER_MAX = 10_000;

/** Most missed fire times that are counted one by one. When there are more, their number is reported as unknown. */
export const MISSED_COUNT_STEPS_MAX = 1000;
