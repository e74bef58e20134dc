import type { ScheduleRecord } from "../../records/schedule.ts";

/**
 * What a store knows of the time zone rules by which next fire times were computed.
 *
 * Processes may know different rules of a zone, because each runtime brings its own time zone data, and the version
 * that a runtime says its data have tells little. So the store keeps an order: rules of a zone that it sees for the
 * first time outrank all that it has seen before. Rules are known by their fingerprints.
 */
export interface ZoneRulesStore {
  /**
   * Notes rules, in one commit: first those in `seen`, then those in `own`, each in order. Rules that are known keep
   * their place; with `adopts`, those in `own` are moved to the top of their zone. Returns the known rules of the zones
   * in `own`, by zone, then rank.
   */
  rank(request: ZoneRulesRanking): Promise<readonly RankedZoneRules[]>;
  /** A page of the schedules whose `zoneRules` are a text, by id. */
  getSchedules(request: ZonedPageRequest): Promise<ZonedPage>;
  /** Replaces the `zoneRules` of schedules whose `fence` is equal, and nothing else: their next fire time is right by
   *  other rules too. `fence` stays. At most 1,000. */
  confirm(confirmations: readonly ZoneRulesConfirmation[]): Promise<void>;
}

/** The rules of a zone, as one runtime knows them. */
export interface KnownZoneRules {
  /** The IANA name of the zone. */
  readonly zone: string;
  /** Stands for the clock changes of the zone over eight years. */
  readonly fingerprint: string;
}

/** Rules of zones that a scheduler tells the store. */
export interface ZoneRulesRanking {
  readonly now: number;
  /** The rules of the caller, at most 1,000. */
  readonly own: readonly KnownZoneRules[];
  /** Rules that the caller found beside schedules, at most 1,000. */
  readonly seen: readonly KnownZoneRules[];
  /** Whether those in `own` go to the top of their zones (`zoneRules: "adopt"`). */
  readonly adopts: boolean;
}

/** Rules of a zone, with their place in the store's order. */
export interface RankedZoneRules extends KnownZoneRules {
  /** When the store saw them first, or took them to the top, in epoch milliseconds; a little later where that is needed
   *  for an order. Greater ranks outrank smaller ones. */
  readonly rank: number;
}

/** Which page of the schedules whose `zoneRules` are a text. */
export interface ZonedPageRequest {
  readonly zoneRules: string;
  /** The id after which the page begins; empty for the first page. */
  readonly after: string;
  readonly limit: number;
  /** Most bytes of the triggers of a page. The first schedule is in the page whatever its size. */
  readonly bytesMax: number;
}

/** A page of schedules whose next fire times were computed by the same rules. */
export interface ZonedPage {
  readonly items: readonly ZonedSchedule[];
  /** Whether there is a next page. */
  readonly hasMore: boolean;
}

/** What is needed of a schedule to compute its next fire time anew. */
export type ZonedSchedule = Pick<
  ScheduleRecord,
  "id" | "trigger" | "nextFireTime" | "lastFireTime" | "createdAt" | "fence"
>;

/** New `zoneRules` of a schedule, if its `fence` is as it was read. */
export interface ZoneRulesConfirmation {
  readonly scheduleId: string;
  readonly fence: number;
  readonly zoneRules: string | null;
}
