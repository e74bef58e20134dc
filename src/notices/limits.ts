/** Longest name of a channel of notices, in UTF-16 units. It is a part of the id of a task, and stands in the log. */
export const NOTICE_NAME_LENGTH_MAX = 64;
