/** Longest text of an `RRuleTrigger`, in UTF-16 units: enough for its most dates. */
export const RRULE_TEXT_LENGTH_MAX = 32_768;

/** Most dates of `RDATE`, and of `EXDATE`, that one `RRuleTrigger` takes. They lie in the JSON of the schedule, and
 *  each search goes through them. */
export const RRULE_DATES_MAX = 1000;
