/** The payload of jobs and schedules that the store will never take. */
export const REFUSED_PAYLOAD = 1013;

/** A return value that the store will never take. */
export const REFUSED_RESULT: { readonly refused: true } = Object.freeze({ refused: true });
