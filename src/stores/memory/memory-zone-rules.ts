import type { KnownZoneRules, RankedZoneRules, ZoneRulesRanking } from "../contract/zone-rules-types.ts";

/** Which rules of which zones a `MemoryDataStore` has seen. */
export class MemoryZoneRules {
  /** By zone, then fingerprint. */
  readonly #ranks = new Map<string, Map<string, number>>();

  rank({ now, own, seen, adopts }: ZoneRulesRanking): RankedZoneRules[] {
    for (const rules of seen) this.#note(rules, now, false);
    for (const rules of own) this.#note(rules, now, adopts);
    return [...new Set(own.map(({ zone }) => zone))]
      .sort()
      .flatMap((zone) =>
        [...(this.#ranks.get(zone) ?? [])]
          .map(([fingerprint, rank]) => ({ zone, fingerprint, rank }))
          .sort((a, b) => a.rank - b.rank),
      );
  }

  #note({ zone, fingerprint }: KnownZoneRules, now: number, adopts: boolean): void {
    const ranks = this.#ranks.get(zone) ?? new Map<string, number>();
    const known = ranks.get(fingerprint);
    const top = Math.max(...ranks.values());
    if (known !== undefined && (!adopts || known === top)) return;
    ranks.set(fingerprint, Math.max(now, top + 1));
    this.#ranks.set(zone, ranks);
  }
}
