// The layout of linear memory. src/cron/kernel.ts writes the staging area and src/cron/zone.ts the zone tables to these
// offsets: change both together. Times are whole seconds where nothing else is said: of the epoch ("instant") or of the
// wall clock ("local"), as f64, which is exact for every year up to 9999 and saves the conversions that i64 would need
// at the boundary.

// A spec has two cache lines. Finding the next fire time reads the first line alone, except in rare cases and for specs
// with several seconds. Specs lie in slabs: first the first lines of all specs, then all second lines, so that a walk
// over many specs reads no memory that it does not need.
//
// The first line counts in minutes of the epoch (u32, which is exact up to 9999). A spec that fires at whole minutes,
// or a fixed number of seconds later, needs no finer unit, and 32-bit integers are the cheapest to compare and to
// divide.
export const SPEC_LINE: usize = 64;
export const SLAB_SPECS: usize = 64;
export const SLAB_BYTES: usize = 8192;
/** Distance of a spec's second line from its first. */
export const SECOND_LINE: usize = 4096;
/** The window: the part of a stretch of the zone that no clock change affects. It has the minutes in
 *  [WINDOW_LO, WINDOW_LO + WINDOW_SPAN), and none at first. */
export const WINDOW_LO: usize = 0;
export const WINDOW_SPAN: usize = 4;
/** The pause: for all minutes in [PAUSE_LO, PAUSE_LO + PAUSE_SPAN) the next fire time is at the end of the pause. */
export const PAUSE_LO: usize = 8;
export const PAUSE_SPAN: usize = 12;
/** What is subtracted from an instant (milliseconds) before it is rounded to its minute: half a minute, and
 *  SHIFT_MS. */
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
/** The segment: the part of a stretch of the zone that this spec's DST policy does not change. For instants
 *  (seconds) in [SEGMENT_LO, SEGMENT_HI), local = instant + SEGMENT_OFFSET. Empty at first. */
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
/** The cached month: the epoch day of its first day, and its matching days (bit 0 is the first day). */
export const MONTH_FIRST: usize = SECOND_LINE + 48;
export const MONTH_MASK: usize = SECOND_LINE + 52;
export const PART: usize = SECOND_LINE + 56;

// FLAGS: bits 0-1 say how days are found, bits 2-3 are the gap policy, bits 4-5 the overlap policy. Bit 6 says that the
// spec has only one second, bit 7 that its fire times are evenly spaced.
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

// A date part is shared by all specs that name the same dates. Two parts are equal when their first PART_KEY_BYTES are.
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
/** The number of month searches so far. After many of them the day bitmap is built. */
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
/** Instants from here on are moved back by whole Gregorian cycles before they are looked up. Infinity while the
 *  table does not reach that far. */
export const FOLD_FROM: usize = 16;
export const BUCKET_LAST: usize = 24;
export const BUCKETS: usize = 28;
export const RECORDS: usize = 32;

// A record is one stretch of constant offset. The first stretch starts at -Infinity. One more record lies before it,
// with the same offset, and one more behind the last stretch, with the start +Infinity.
export const RECORD_SHIFT: usize = 5;
export const RECORD_BYTES: usize = 32;
/** In seconds. */
export const RECORD_START: usize = 0;
/** The window of the stretch, in minutes; empty where the stretch has none. No DST policy has any effect in a
 *  window, and every wall-clock time that will come again lies after it. */
export const RECORD_LO: usize = 8;
export const RECORD_SPAN: usize = 12;
/** A midnight at or before RECORD_LO, and its local day. */
export const RECORD_MIDNIGHT: usize = 16;
export const RECORD_DAY: usize = 20;
/** In seconds. */
export const RECORD_OFFSET: usize = 24;

/** A bucket has 2^15 minutes, which are 22 days, and the first one begins with 1970. A bucket rarely holds more than
 *  one transition, because the transitions of a rule are months apart. */
export const BUCKET_SHIFT: u32 = 15;

// Day bitmap: 1970-2099 in 64-bit words, and for each word (u16) the first marked day after it.
export const BITMAP_DAYS: i32 = 47482;
export const BITMAP_WORDS: i32 = 742;
export const BITMAP_AFTER: usize = 5936;
export const BITMAP_BYTES: usize = 7420;
/** The most bitmaps that may exist at once. They take 8 MB, while a million specs with as many date parts would take
 *  7 GB. */
export const BITMAPS_MAX: i32 = 1024;

/** Items of the input, output and slot buffers that batches go through: 32 KB each of f64, to stay in the L1/L2
 *  cache. */
export const BATCH_ITEMS: i32 = 4096;

export const SECONDS_PER_DAY: f64 = 86400;
export const MINUTE_MS: f64 = 60000;
/** Half of the milliseconds that round down to a minute. */
export const HALF_MINUTE_MS: f64 = 29999.5;
/** 9999-12-31 as epoch day, its last local second, and the last instant at which anything fires. */
export const DAY_LAST: i32 = 2932896;
export const LOCAL_LAST: f64 = 253402300799;
/** Where a wall clock shows 1970, the instant is not earlier than this, because no offset reaches a day. */
export const INSTANT_FIRST: f64 = -86400;
/** The Gregorian calendar, weekdays and ISO weeks included, repeats after 400 years of 146,097 days. */
export const CYCLE_YEARS: i32 = 400;
export const CYCLE_SECONDS: f64 = 12622780800;
/** 2100-01-01: from here on every zone follows a rule that repeats with the calendar. */
export const FOLD_BASE: f64 = 4102444800;
