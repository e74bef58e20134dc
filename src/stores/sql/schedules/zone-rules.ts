import type {
  RankedZoneRules,
  ZonedPage,
  ZonedPageRequest,
  ZonedSchedule,
  ZoneRulesConfirmation,
  ZoneRulesRanking,
  ZoneRulesStore,
} from "../../contract/zone-rules-types.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/driver-and-failures.ts";
import { jsonArray, numberOrNull } from "../sql-and-json.ts";

/** The rules of time zones that a `SqlDataStore` has seen. */
export class SqlZoneRules implements ZoneRulesStore {
  readonly #connection: Connection;
  readonly #statements: ZoneRulesStatements;

  constructor(connection: Connection, statements: ZoneRulesStatements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async rank({ now, own, seen, adopts }: ZoneRulesRanking): Promise<readonly RankedZoneRules[]> {
    const { noteZoneRules, adoptZoneRules, getZoneRules } = this.#statements;
    const [ownRows, seenRows] = [own, seen].map((rules) =>
      JSON.stringify(rules.map(({ zone, fingerprint }) => [zone, fingerprint])),
    );
    const answers = await this.#connection.write(() => [
      statement(noteZoneRules, seenRows ?? "[]", now),
      statement(adopts ? adoptZoneRules : noteZoneRules, ownRows ?? "[]", now),
      statement(getZoneRules, ownRows ?? "[]"),
    ]);
    return jsonArray<[string, string, number]>(answers[2], "known").map(([zone, fingerprint, rank]) => ({
      zone,
      fingerprint,
      rank,
    }));
  }

  async getSchedules({ zoneRules, after, limit, bytesMax }: ZonedPageRequest): Promise<ZonedPage> {
    const { getZonedSchedules } = this.#statements;
    const rows = await this.#connection.read(statement(getZonedSchedules, zoneRules, after, limit, bytesMax));
    const items = jsonArray<ZonedRow>(rows, "schedules").map(toZoned);
    const found = numberOrNull(rows, "found") ?? 0;
    return { items, hasMore: found === limit || items.length < found };
  }

  async confirm(confirmations: readonly ZoneRulesConfirmation[]): Promise<void> {
    const rows = confirmations.map(({ scheduleId, fence, zoneRules }) => [scheduleId, fence, zoneRules]);
    await this.#connection.write(() => [statement(this.#statements.confirmZoneRules, JSON.stringify(rows))]);
  }
}

type ZonedRow = [string, string, number | null, number | null, number, number];

function toZoned([id, trigger, nextFireTime, lastFireTime, createdAt, fence]: ZonedRow): ZonedSchedule {
  return { id, trigger, nextFireTime, lastFireTime, createdAt, fence };
}

/** The statements about the rules of time zones, except `zoneRulesTexts`. */
export interface ZoneRulesStatements {
  readonly noteZoneRules: string;
  readonly adoptZoneRules: string;
  readonly getZoneRules: string;
  readonly getZonedSchedules: string;
  readonly confirmZoneRules: string;
}
