// The layout of linear memory. src/cron/kernel.ts writes the staging area and the zone tables to these offsets: change
// both together. All times inside are whole seconds: of the epoch ("instant") or of the wall clock ("local"), as f64,
// which is exact for every year up to 9999 and saves the conversions that i64 would need at the boundary.

// Spec: 128 bytes, two cache lines. The first is all that a search near the last answer touches.
export const SPEC_BYTES: usize = 128;
/** The window: instants (milliseconds) in [BASE, BASE + SPAN) have their next fire time within the window, where no
 *  DST policy has a say. Evenly spaced specs: fires at BASE + k * STEP_MS. Others: the day that starts at BASE + 1000,
 *  or days on end where every day matches.
 *  BASE is infinite while there is no window. */
export const WINDOW_BASE: usize = 0;
export const WINDOW_SPAN: usize = 8;
/** Distance of the fire times of an evenly spaced spec, and its inverse; 0 for all others. */
export const STEP_MS: usize = 16;
export const STEP_INVERSE: usize = 24;
/** The pause: instants (milliseconds) in [PAUSE_LO, PAUSE_HI) have PAUSE_HI as their next fire time. */
export const PAUSE_LO: usize = 32;
export const PAUSE_HI: usize = 40;
export const FLAGS: usize = 48;
export const HOURS: usize = 52;
export const MINUTES: usize = 56;
export const SECONDS: usize = 64;
/** The segment, a stretch of the zone without the parts that a DST policy touches: for instants (seconds) in
 *  [SEGMENT_LO, SEGMENT_HI) local = instant + SEGMENT_OFFSET. Empty at first. */
export const SEGMENT_LO: usize = 72;
export const SEGMENT_HI: usize = 80;
export const SEGMENT_OFFSET: usize = 88;
/** First and last matching second of a day (u32), and of a matching hour (u16). */
export const FIRST_OF_DAY: usize = 96;
export const LAST_OF_DAY: usize = 100;
export const FIRST_OF_HOUR: usize = 104;
export const LAST_OF_HOUR: usize = 106;
export const TIMES_PER_HOUR: usize = 108;
/** The matching weekdays twice over (14 bits, bit 0 is Sunday), so that a shift needs no rotation. */
export const WEEK_MASK: usize = 110;
/** Cached month: epoch day of its first, and its matching days (bit 0 is the first). */
export const MONTH_FIRST: usize = 112;
export const MONTH_MASK: usize = 116;
export const ZONE: usize = 120;
export const PART: usize = 124;

// FLAGS: bits 0-1 say how days are found, 2-3 the gap policy, 4-5 the overlap policy, 6 that the only second is 0.
export const DAYS_MASK: u32 = 3;
export const DAYS_EVERY: u32 = 0;
export const DAYS_WEEKLY: u32 = 1;
export const DAYS_GENERAL: u32 = 2;
export const DAYS_NEVER: u32 = 3;
export const GAP_MASK: u32 = 12;
export const GAP_SKIP: u32 = 0;
export const GAP_ADVANCE: u32 = 4;
export const GAP_SHIFT: u32 = 8;
export const OVERLAP_MASK: u32 = 48;
export const OVERLAP_BOTH: u32 = 0;
export const OVERLAP_FIRST: u32 = 16;
export const OVERLAP_SECOND: u32 = 32;
export const WHOLE_MINUTES: u32 = 64;

// Date part: shared by all specs that name the same dates. The first PART_KEY_BYTES are its identity.
export const PART_BYTES: usize = 80;
export const PART_KEY_BYTES: usize = 56;
export const NTH_OF_DAY: usize = 0;
export const NTH_OF_WEEKDAY: usize = 8;
export const ISO_WEEKS: usize = 16;
export const DAYS_OF_MONTH: usize = 24;
export const LAST_DAY_OFFSETS: usize = 28;
export const NEAREST_WEEKDAYS: usize = 32;
export const DAYS_OF_WEEK: usize = 36;
export const MONTHS: usize = 40;
export const YEAR_FIRST: usize = 44;
export const YEAR_LAST: usize = 46;
/** Bitmap of 32-bit words, bit (year - 1970), or 0 when every year from first to last matches. */
export const YEAR_BITS: usize = 48;
/** Bit 0: a day matches when either part does. Bit 1: the last weekday of the month. */
export const PART_FLAGS: usize = 52;
export const PART_EITHER: u32 = 1;
export const PART_LAST_WEEKDAY: u32 = 2;
export const PART_DAY_BITS: usize = 56;
export const PART_REFERENCES: usize = 60;
export const PART_CHAIN: usize = 64;
/** Month searches so far; the day bitmap is built when there are enough to pay for it. */
export const PART_SEARCHES: usize = 68;

// Staging: what TypeScript writes before it calls alloc(). The date part's key follows at STAGING_PART.
export const STAGING_BYTES: i32 = 88;
export const STAGING_SECONDS: usize = 0;
export const STAGING_MINUTES: usize = 8;
export const STAGING_HOURS: usize = 16;
export const STAGING_FLAGS: usize = 20;
export const STAGING_ZONE: usize = 24;
export const STAGING_PART: usize = 32;

// Zone: a header, and a block of records followed by bucket indices.
export const ZONE_BYTES: usize = 64;
/** The table answers for instants in [COVER_LO, COVER_HI). Transitions are known two days beyond either end, so that
 *  the overlap or gap next to an instant inside is never missed. */
export const COVER_LO: usize = 0;
export const COVER_HI: usize = 8;
/** Instants from here on are folded back by whole Gregorian cycles; infinite until the table reaches that far. */
export const FOLD_FROM: usize = 16;
export const BUCKET_BASE: usize = 24;
export const BUCKETS: usize = 32;
export const BUCKET_COUNT: usize = 36;
export const RECORDS: usize = 40;

// Record: one stretch of constant offset. The first starts at -Infinity; one past the last starts at +Infinity.
export const RECORD_BYTES: usize = 16;
export const RECORD_START: usize = 0;
export const RECORD_OFFSET: usize = 8;
/** Offset minus the offset before: negative when clocks went back. */
export const RECORD_DELTA: usize = 12;

/** Transitions of a rule are months apart, so a bucket of 24 days rarely holds more than one. */
export const BUCKET_SECONDS: f64 = 2097152;

// Day bitmap: 1970-2099 in 64-bit words under a summary with one bit a word.
export const BITMAP_DAYS: i32 = 47482;
export const BITMAP_WORDS: i32 = 742;
export const SUMMARY_WORDS: i32 = 12;
export const SUMMARY_BYTES: usize = 96;
export const BITMAP_BYTES: usize = 6032;
/** Bitmaps that may exist at once, 8 MB: a million specs with as many date parts must not take 6 GB. */
export const BITMAPS_MAX: i32 = 1024;

/** Items of the input, output and slot buffers that batches go through: 32 KB each of f64, to stay in the L1/L2 cache. */
export const BATCH_ITEMS: i32 = 4096;

export const SECONDS_PER_DAY: f64 = 86400;
/** 9999-12-31 as epoch day, its last local second, and the last instant at which anything fires. */
export const DAY_LAST: i32 = 2932896;
export const LOCAL_LAST: f64 = 253402300799;
/** No offset reaches a day, so nothing that is 1970 on some wall clock lies before this instant. */
export const INSTANT_FIRST: f64 = -86400;
/** The Gregorian calendar, weekdays and ISO weeks included, repeats after 400 years of 146,097 days. */
export const CYCLE_YEARS: i32 = 400;
export const CYCLE_SECONDS: f64 = 12622780800;
/** 2100-01-01: from here on every zone follows a rule that repeats with the calendar. */
export const FOLD_BASE: f64 = 4102444800;
