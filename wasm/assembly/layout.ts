// The layout of linear memory. src/cron/kernel.ts writes the staging area and src/cron/zone.ts the zone tables to these
// offsets: change both together. Times are whole seconds where nothing else is said: of the epoch ("instant") or of the
// wall clock ("local"), as f64, which is exact for every year up to 9999 and saves the conversions that i64 would need
// at the boundary.

// Spec: two cache lines. The first is all that finding the next fire time touches, but for rare cases and for specs with
// several seconds. Specs lie in slabs: the first lines of all together, then the second ones, so that a walk over many
// specs reads no memory that it does not need.
//
// The first line counts in minutes of the epoch (u32, which is exact up to 9999): what fires at whole minutes, or some
// fixed seconds later, has no use for more, and 32-bit integers are the cheapest to compare and to divide.
export const SPEC_LINE: usize = 64;
export const SLAB_SPECS: usize = 64;
export const SLAB_BYTES: usize = 8192;
/** Distance of a spec's second line from its first. */
export const SECOND_LINE: usize = 4096;
/** The window, a stretch of the zone without the parts that a clock change touches: minutes in
 *  [WINDOW_LO, WINDOW_LO + WINDOW_SPAN). Empty at first. */
export const WINDOW_LO: usize = 0;
export const WINDOW_SPAN: usize = 4;
/** The pause: in the minutes of [PAUSE_LO, PAUSE_LO + PAUSE_SPAN) the next fire time is at its end. */
export const PAUSE_LO: usize = 8;
export const PAUSE_SPAN: usize = 12;
/** What an instant (milliseconds) is less by, to be rounded to its minute: half a minute, and SHIFT_MS. */
export const ROUNDING: usize = 16;
/** The hours are the upper 24 bits of the word that starts with the flags. */
export const FLAGS: usize = 24;
export const HOURS: usize = 24;
export const ZONE: usize = 28;
// Evenly spaced specs: the distance of their fire times, its inverse, an instant from which they are counted within the
// window, and the window's end. All in milliseconds.
export const STEP_MS: usize = 32;
export const STEP_INVERSE: usize = 40;
export const WINDOW_BASE: usize = 48;
export const WINDOW_HI: usize = 56;
// All others, in the same place.
export const MINUTES: usize = 32;
/** Where days follow the week alone: the matching weekdays twice over (14 bits, bit 0 is Sunday), so that a shift needs
 *  no rotation. Otherwise the day bitmap, or 0. */
export const WEEK_MASK: usize = 40;
export const DAY_BITS: usize = 40;
/** First and last matching minute of a day. */
export const FIRST_MINUTE: usize = 44;
export const LAST_MINUTE: usize = 46;
/** A midnight at or before WINDOW_LO, and its local day. */
export const MIDNIGHT: usize = 48;
export const MIDNIGHT_DAY: usize = 52;
/** Milliseconds from a minute to the second of it that fires; 0 where there are several. */
export const SHIFT_MS: usize = 56;
/** The segment, a stretch of the zone without the parts that this spec's DST policy touches: for instants (seconds) in
 *  [SEGMENT_LO, SEGMENT_HI) local = instant + SEGMENT_OFFSET. Empty at first. */
export const SEGMENT_LO: usize = SECOND_LINE + 0;
export const SEGMENT_HI: usize = SECOND_LINE + 8;
export const SEGMENT_OFFSET: usize = SECOND_LINE + 16;
export const SECONDS: usize = SECOND_LINE + 24;
/** First and last matching second of a day (u32), and of a matching hour (u16). */
export const FIRST_OF_DAY: usize = SECOND_LINE + 32;
export const LAST_OF_DAY: usize = SECOND_LINE + 36;
export const FIRST_OF_HOUR: usize = SECOND_LINE + 40;
export const LAST_OF_HOUR: usize = SECOND_LINE + 42;
export const TIMES_PER_HOUR: usize = SECOND_LINE + 44;
/** Cached month: epoch day of its first, and its matching days (bit 0 is the first). */
export const MONTH_FIRST: usize = SECOND_LINE + 48;
export const MONTH_MASK: usize = SECOND_LINE + 52;
export const PART: usize = SECOND_LINE + 56;

// FLAGS: bits 0-1 say how days are found, 2-3 the gap policy, 4-5 the overlap policy, 6 that there is only one second, 7
// that the spec is evenly spaced.
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
export const OVERLAP_FIRST: u32 = 16;
export const OVERLAP_SECOND: u32 = 32;
export const ONE_SECOND: u32 = 64;
export const EVEN: u32 = 128;

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
/** The table answers for instants in [COVER_LO, COVER_HI). Transitions are known two days beyond either end, so that
 *  the overlap or gap next to an instant inside is never missed. */
export const COVER_LO: usize = 0;
export const COVER_HI: usize = 8;
/** Instants from here on are folded back by whole Gregorian cycles; infinite until the table reaches that far. */
export const FOLD_FROM: usize = 16;
export const BUCKET_LAST: usize = 24;
export const BUCKETS: usize = 28;
export const RECORDS: usize = 32;

// Record: one stretch of constant offset. The first starts at -Infinity, and another before it has its offset; one past the
// last starts at +Infinity.
export const RECORD_SHIFT: usize = 5;
export const RECORD_BYTES: usize = 32;
/** In seconds. */
export const RECORD_START: usize = 0;
/** The window of the stretch, in minutes (empty where there is none): no DST policy has a say in it, and every wall-clock
 *  time that comes again later lies after it. */
export const RECORD_LO: usize = 8;
export const RECORD_SPAN: usize = 12;
/** A midnight at or before RECORD_LO, and its local day. */
export const RECORD_MIDNIGHT: usize = 16;
export const RECORD_DAY: usize = 20;
/** In seconds. */
export const RECORD_OFFSET: usize = 24;

/** A bucket has 2^15 minutes, and the first begins with 1970. Transitions of a rule are months apart, so that one of 22 days
 *  rarely holds more than one. */
export const BUCKET_SHIFT: u32 = 15;

// Day bitmap: 1970-2099 in 64-bit words, and for each word (u16) the first marked day after it.
export const BITMAP_DAYS: i32 = 47482;
export const BITMAP_WORDS: i32 = 742;
export const BITMAP_AFTER: usize = 5936;
export const BITMAP_BYTES: usize = 7420;
/** Bitmaps that may exist at once, 8 MB: a million specs with as many date parts must not take 6 GB. */
export const BITMAPS_MAX: i32 = 1024;

/** Items of the input, output and slot buffers that batches go through: 32 KB each of f64, to stay in the L1/L2 cache. */
export const BATCH_ITEMS: i32 = 4096;

export const SECONDS_PER_DAY: f64 = 86400;
export const MINUTE_MS: f64 = 60000;
/** Half of the milliseconds that round down to a minute. */
export const HALF_MINUTE_MS: f64 = 29999.5;
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
