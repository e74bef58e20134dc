/** Longest id of a task, schedule or job, in UTF-16 units. Ids are index keys, and stand in logs and URLs. */
export const ID_LENGTH_MAX = 256;

/** Largest serialized payload, result or metadata, in UTF-16 units. Remote stores refuse answers above 10 MB. */
export const SERIALIZED_LENGTH_MAX = 1_000_000;

/** Most events of one message that a broker takes: one call adds 10,000 jobs at most, and each makes an event. */
export const EVENTS_PER_MESSAGE_MAX = 20_000;

/** Longest chain of causes that is kept with an error, and longest text of each field of an error, in UTF-16 units. A
 *  handler may throw anything, and what is kept of it goes to the store and to every listener. */
export const ERROR_CAUSES_MAX = 8;
export const ERROR_TEXT_LENGTH_MAX = 16_384;

/** Most errors that are kept below a thrown one: its causes, and those of an `AggregateError`. And most own properties
 *  that are kept of each, how deep each is nested, and their length as JSON, in UTF-16 units. */
export const ERRORS_KEPT_MAX = 16;
export const ERROR_PROPERTIES_MAX = 32;
export const ERROR_PROPERTY_DEPTH_MAX = 8;
export const ERROR_PROPERTIES_LENGTH_MAX = 4096;

/** Most failed attempts that are kept with a job, the newest ones, and the longest message and stack that are kept of
 *  each, and the longest text of its cause, in UTF-16 units: 70,000 in all, so that a job that fails for days stays
 *  small. */
export const ATTEMPTS_KEPT_MAX = 20;
export const ATTEMPT_MESSAGE_LENGTH_MAX = 1000;
export const ATTEMPT_STACK_LENGTH_MAX = 2000;
export const ATTEMPT_CAUSE_LENGTH_MAX = 300;

/** How long it is kept how a job failed, where nobody says otherwise: somebody looks at failures days later. */
export const FAILURE_KEPT_MS: number = 30 * 86_400_000;

/** Characters that a schedule keeps of each text of the error of its last failure, because each list of schedules
 *  carries them. The whole error is with the result. */
export const FAILURE_TEXT_LENGTH_MAX = 1000;

/** Bytes of UTF-8 that a ledger keeps of the reason for which a handler skipped a run. 10,000 runs, which may be read
 *  together, then stay below the 2 MB that D1 has for a text. */
export const SKIP_REASON_BYTES_MAX = 100;

/** Longest reason of a pause or a blackout, in UTF-16 units. It stands in records, events and explanations. */
export const REASON_LENGTH_MAX = 500;

/** Longest list in an event, so that an event stays small enough for the message of a broker. The number of all stands
 *  beside it. */
export const EVENT_LIST_MAX = 100;
