import { instantText } from "../../core/temporal.ts";
import { zoneWindowOf } from "../../cron/zone-fingerprint.ts";
import type { EventRecord } from "../../records/events.ts";
import { EVENT_LIST_MAX } from "../../records/limits.ts";
import type { ZonedSchedule, ZoneRulesConfirmation, ZoneRulesStore } from "../../stores/contract/zone-rules-types.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import { type FingerprintSource, zoneRulesText } from "../../triggers/stored-zone-rules.ts";
import type { Environment } from "../environment.ts";
import { scheduleSaved, zoneRulesChanged } from "../events/event-records.ts";
import { COMMIT_BYTES_MAX } from "../firing/limits.ts";
import { movedFireTime } from "../firing/moved-fire-time.ts";
import { ZONED_SCHEDULES_MAX } from "./limits.ts";

/** Rules of a zone that differ here. */
export interface DifferingZone {
  readonly zone: string;
  /** The fingerprint beside schedules. */
  readonly former: string;
  /** That of this runtime, for the same window. */
  readonly present: string;
}

/** Most schedules and zones that a line of the log names. */
const NAMED_MAX = 5;

/** Computes next fire times anew by the time zone rules here, and tells which have moved. */
export class ZoneMoves {
  readonly #env: Environment;
  readonly #store: ZoneRulesStore;
  readonly #fingerprintOf: FingerprintSource;
  readonly #zones = new Map<string, DifferingZone>();
  readonly #moved: EventRecord<"zoneRulesChanged">["schedules"][number][] = [];
  #total = 0;

  constructor(env: Environment, store: ZoneRulesStore, fingerprintOf: FingerprintSource) {
    this.#env = env;
    this.#store = store;
    this.#fingerprintOf = fingerprintOf;
  }

  get hasMoved(): boolean {
    return this.#total > 0;
  }

  /**
   * Goes through the schedules of a text. A schedule whose trigger fails, or cannot be read here, stays as it is, as
   * does one that somebody else changes meanwhile.
   * @returns false when `mayGoOn` ended it before the last schedule
   * @throws {StoreUnavailableError}
   */
  async moveAll(text: string, zones: readonly DifferingZone[], mayGoOn: () => boolean): Promise<boolean> {
    const { clock } = this.#env;
    for (let after = ""; ; ) {
      if (!mayGoOn()) return false;
      const request = { zoneRules: text, after, limit: ZONED_SCHEDULES_MAX, bytesMax: COMMIT_BYTES_MAX };
      const { items, hasMore } = await this.#store.getSchedules(request);
      const unmoved: ZoneRulesConfirmation[] = [];
      for (const schedule of items) {
        const now = clock.now();
        const change = this.#changeOf(schedule, now);
        if (change === null) continue;
        const { id: scheduleId, fence } = schedule;
        if (change.nextFireTime === schedule.nextFireTime) {
          unmoved.push({ scheduleId, fence, zoneRules: change.zoneRules });
          continue;
        }
        if (!mayGoOn()) return false;
        await this.#move(schedule, change, now);
        for (const zone of zones) this.#zones.set(`${zone.zone} ${zone.former}`, zone);
      }
      if (unmoved.length > 0 && !mayGoOn()) return false;
      if (unmoved.length > 0) await this.#store.confirm(unmoved);
      const last = items.at(-1);
      if (!hasMore || last === undefined) return true;
      after = last.id;
      await clock.yield();
    }
  }

  /** Publishes and logs what has moved, if anything has. */
  report(): void {
    if (!this.hasMoved) return;
    const { events, logger } = this.#env;
    const zones = [...this.#zones.values()].slice(0, EVENT_LIST_MAX);
    events.publish([zoneRulesChanged(this.#env, { zones, schedules: this.#moved, total: this.#total })]);
    const named = this.#moved.slice(0, NAMED_MAX).map(({ scheduleId, formerFireTimeMs, nextFireTimeMs }) => {
      const at = nextFireTimeMs === null ? "no more" : `at ${instantText(nextFireTimeMs)}`;
      return `"${scheduleId}" ${at} instead of ${instantText(formerFireTimeMs)}`;
    });
    const count = this.#total === 1 ? "1 schedule fires" : `${this.#total} schedules fire`;
    logger.warn(
      `escapement: this runtime knows newer time zone rules, by which ${count} at another time: ` +
        `${named.join(", ")}${moreThan(NAMED_MAX, this.#total)}; ${shownZones(zones)}`,
    );
  }

  #changeOf(schedule: ZonedSchedule, now: number): Change | null {
    try {
      const trigger = parseTrigger(schedule.trigger);
      const nextFireTime = movedFireTime(schedule, trigger, now);
      const zoneRules = nextFireTime === null ? null : zoneRulesText(trigger, zoneWindowOf(now), this.#fingerprintOf);
      return { nextFireTime, zoneRules };
    } catch {
      return null;
    }
  }

  async #move(schedule: ZonedSchedule, change: Change, now: number): Promise<void> {
    const { store, events, identity } = this.#env;
    const { id, nextFireTime, fence } = schedule;
    const update = { id, expectedFence: fence, changes: { ...change, keepsRevision: true } };
    const [updated = null] = await store.updateSchedules([update], { at: now, by: identity });
    if (updated === null || nextFireTime === null) return;
    events.publish([scheduleSaved(this.#env, updated, "updated")]);
    this.#total++;
    if (this.#moved.length === EVENT_LIST_MAX) return;
    this.#moved.push({ scheduleId: id, formerFireTimeMs: nextFireTime, nextFireTimeMs: change.nextFireTime });
  }
}

interface Change {
  readonly nextFireTime: number | null;
  readonly zoneRules: string | null;
}

/** Such as `Europe/Berlin (2024 1f2e3d4c, here 2024 4d3c2b1a)`. */
export function shownZones(zones: readonly DifferingZone[]): string {
  const shown = zones.slice(0, NAMED_MAX).map(({ zone, former, present }) => `${zone} (${former}, here ${present})`);
  return `${shown.join(", ")}${moreThan(NAMED_MAX, zones.length)}`;
}

function moreThan(shown: number, count: number): string {
  return count > shown ? ` and ${count - shown} more` : "";
}
