/** Longest line of an exported text that an import reads, in UTF-16 units: a record has a payload and metadata, each of
 *  which can double by its escapes, in a trigger twice. */
export const TRANSFER_LINE_LENGTH_MAX = 8_000_000;

/** Most text that an import keeps in memory between its two passes, in UTF-16 units: that of some 100,000 schedules. */
export const TRANSFER_TEXT_LENGTH_MAX = 64_000_000;

/** Text of the records that an import writes in one commit, in UTF-16 units. One record is written whatever its
 *  size. */
export const TRANSFER_COMMIT_LENGTH_MAX = 500_000;

/** Most jobs that the report of an import lists as not imported, because the report is kept in memory and printed as a
 *  whole. */
export const NOT_IMPORTED_LISTED_MAX = 10_000;
