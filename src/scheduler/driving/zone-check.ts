import { zoneFingerprint, zoneWindowOf } from "../../cron/zone-fingerprint.ts";
import type {
  KnownZoneRules,
  RankedZoneRules,
  ZoneRulesRanking,
  ZoneRulesStore,
} from "../../stores/contract/zone-rules-types.ts";
import type { LookRequest } from "../../stores/data-store.ts";
import { type FingerprintSource, ownFingerprint, readZoneRules } from "../../triggers/stored-zone-rules.ts";
import type { Environment } from "../environment.ts";
import { ZONE_CHECK_MS, ZONE_TEXTS_MAX } from "./limits.ts";
import { type DifferingZone, shownZones, ZoneMoves } from "./zone-moves.ts";

export interface ZoneCheckParts {
  readonly env: Environment;
  /** The option of the scheduler. */
  readonly policy: "auto" | "adopt" | "keep";
  /** Called when a look has found texts that differ from the rules here, or when there may be more texts. */
  readonly onFound?: () => void;
  /** Default: what this runtime knows. */
  readonly fingerprintOf?: FingerprintSource;
}

/** A text of a window that begins more years before or after that of the present was forged. */
const WINDOW_YEARS_APART_MAX = 8;

/**
 * Finds next fire times that a runtime with other time zone data computed, and has them computed anew if the data here
 * are newer.
 *
 * Nothing in the data of a runtime tells whether they are newer: versions are not trustworthy, and a correction may be
 * taken back. So the order in which the store has seen rules decides, and it never changes by itself: rules that are
 * seen for the first time outrank all others of their zone. A scheduler moves only schedules whose rules rank below its
 * own, so that each set of rules moves a schedule once, and processes that disagree never move it to and fro.
 *
 * The first look asks for the texts beside schedules; where all are as here, that is all it costs.
 */
export class ZoneCheck {
  readonly #parts: ZoneCheckParts;
  readonly #fingerprintOf: FingerprintSource;
  /** The text after which the next look goes on; empty for the first. */
  #after = "";
  /** From when on a look asks, in epoch milliseconds. */
  #askAt = Number.NEGATIVE_INFINITY;
  #texts: string[] = [];
  readonly #warned = new Set<string>();
  /** The rules that were taken to the top: once each, because another process may do the same with others. */
  readonly #adopted = new Set<string>();

  constructor(parts: ZoneCheckParts) {
    this.#parts = parts;
    this.#fingerprintOf = parts.fingerprintOf ?? zoneFingerprint;
  }

  /** What the next look is to ask; undefined for nothing. */
  asksFor(now: number): LookRequest["zoneRules"] {
    const isOff = this.#parts.policy === "keep" || this.#parts.env.store.zoneRules === undefined;
    // The clock may have been set back.
    const isEarly = now < this.#askAt && this.#askAt <= now + ZONE_CHECK_MS;
    return isOff || isEarly ? undefined : { after: this.#after, limit: ZONE_TEXTS_MAX };
  }

  /** A look has answered. */
  heard(texts: readonly string[], now: number): void {
    this.#after = texts.length < ZONE_TEXTS_MAX ? "" : (texts.at(-1) ?? "");
    this.#askAt = this.#after === "" ? now + ZONE_CHECK_MS : Number.NEGATIVE_INFINITY;
    for (const text of texts) {
      if (this.#texts.length < ZONE_TEXTS_MAX && !this.#texts.includes(text) && this.#differing(text, now).length > 0) {
        this.#texts.push(text);
      }
    }
    if (this.hasFound || this.hasMore) this.#parts.onFound?.();
  }

  /** Whether texts wait that differ from the rules here. */
  get hasFound(): boolean {
    return this.#texts.length > 0;
  }

  /** Whether the next look goes on where the last one ended. */
  get hasMore(): boolean {
    return this.#after !== "";
  }

  /**
   * Ranks the rules that differ, and computes next fire times anew where those here rank above. What is left because
   * `mayGoOn` ended it, or the store failed, waits for the next call.
   *
   * @param mayGoOn asked before each request
   * @returns whether schedules were moved
   * @throws {StoreUnavailableError}
   */
  async run(mayGoOn: () => boolean): Promise<boolean> {
    const { env } = this.#parts;
    const { store, clock } = env;
    if (store.zoneRules === undefined || !this.hasFound || !mayGoOn()) return false;
    const now = clock.now();
    const differing = new Map(this.#texts.map((text) => [text, this.#differing(text, now)]));
    const all = [...differing.values()].flat();
    const own = unique(all.map(({ zone, present: fingerprint }) => ({ zone, fingerprint })));
    const seen = unique(all.map(({ zone, former: fingerprint }) => ({ zone, fingerprint })));
    const ranks = ranksOf(await this.#rank(store.zoneRules, { now, own, seen }));
    const moves = new ZoneMoves(env, store.zoneRules, this.#fingerprintOf);
    try {
      for (const [text, zones] of differing) {
        const outranked = zones.filter(
          ({ zone, former, present }) => rank(ranks, zone, present) < rank(ranks, zone, former),
        );
        if (outranked.length > 0) this.#warn(outranked);
        else if (!(await moves.moveAll(text, zones, mayGoOn))) return moves.hasMoved;
        this.#texts = this.#texts.filter((one) => one !== text);
      }
      return moves.hasMoved;
    } finally {
      moves.report();
    }
  }

  async #rank(store: ZoneRulesStore, request: Omit<ZoneRulesRanking, "adopts">): Promise<readonly RankedZoneRules[]> {
    const fresh = this.#parts.policy === "adopt" ? request.own.filter((one) => !this.#adopted.has(keyOf(one))) : [];
    if (fresh.length === 0) return store.rank({ ...request, adopts: false });
    const ranked = await store.rank({ ...request, own: fresh, adopts: true });
    for (const one of fresh) this.#adopted.add(keyOf(one));
    return fresh.length === request.own.length ? ranked : store.rank({ ...request, adopts: false });
  }

  /** The zones of a text whose rules differ here; none for a text that tells nothing. */
  #differing(text: string, now: number): DifferingZone[] {
    const zones = readZoneRules(text) ?? [];
    return zones.flatMap(({ zone, fingerprint: former, window }) => {
      if (Math.abs(window - zoneWindowOf(now)) > WINDOW_YEARS_APART_MAX) return [];
      const present = ownFingerprint(zone, window, this.#fingerprintOf);
      return present === null || present === former ? [] : [{ zone, former, present }];
    });
  }

  #warn(outranked: readonly DifferingZone[]): void {
    const untold = outranked.filter(({ zone, former }) => !this.#warned.has(`${zone} ${former}`));
    if (untold.length === 0) return;
    for (const { zone, former } of untold) this.#warned.add(`${zone} ${former}`);
    this.#parts.env.logger.warn(
      "escapement: schedules stay as they are that were planned by newer time zone rules than those of this runtime: " +
        `${shownZones(untold)}; update this runtime, or, if its rules are the right ones, start it once with ` +
        'new Scheduler({ zoneRules: "adopt" }); with "keep" it never compares',
    );
  }
}

function unique(rules: readonly KnownZoneRules[]): KnownZoneRules[] {
  return [...new Map(rules.map((one) => [keyOf(one), one])).values()];
}

function ranksOf(ranked: readonly RankedZoneRules[]): ReadonlyMap<string, number> {
  return new Map(ranked.map((one) => [keyOf(one), one.rank]));
}

function rank(ranks: ReadonlyMap<string, number>, zone: string, fingerprint: string): number {
  return ranks.get(keyOf({ zone, fingerprint })) ?? 0;
}

function keyOf({ zone, fingerprint }: KnownZoneRules): string {
  return `${zone} ${fingerprint}`;
}
