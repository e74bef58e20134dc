import type { ZoneRulesStore } from "../../../src/stores/contract/zone-rules-types.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { updateSchedule } from "../../../src/testing/data-store-contract/makers.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

/** A store whose zone rules are wrong in one method. */
abstract class ChangesZoneRules extends MemoryDataStore {
  constructor(changed: (right: ZoneRulesStore) => Partial<ZoneRulesStore>) {
    super();
    const { zoneRules } = this;
    Object.assign(this, { zoneRules: { ...zoneRules, ...changed(zoneRules) } });
  }
}

/** Ranks rules that it knows anew. */
class RanksKnownRulesAnew extends ChangesZoneRules {
  constructor() {
    super((right) => ({ rank: (request) => right.rank({ ...request, adopts: true }) }));
  }
}

/** Never lets rules be adopted. */
class RefusesAdoptions extends ChangesZoneRules {
  constructor() {
    super((right) => ({ rank: (request) => right.rank({ ...request, adopts: false }) }));
  }
}

/** Ranks the rules of the caller below those that the caller found. */
class RanksOwnRulesFirst extends ChangesZoneRules {
  constructor() {
    super((right) => ({
      async rank(request) {
        await right.rank({ ...request, seen: [] });
        return right.rank(request);
      },
    }));
  }
}

/** Ranks by the caller's clock alone. */
class RanksByTheClock extends ChangesZoneRules {
  constructor() {
    super((right) => ({
      rank: async (request) => (await right.rank(request)).map((rules) => ({ ...rules, rank: request.now })),
    }));
  }
}

/** Replaces the text whatever has changed meanwhile. */
class ConfirmsAnyFence extends ChangesZoneRules {
  constructor() {
    super(() => ({
      confirm: async (confirmations) => {
        for (const { scheduleId, zoneRules } of confirmations) await updateSchedule(this, scheduleId, { zoneRules });
      },
    }));
  }
}

/** Shows all schedules of a text, however large they are. */
class IgnoresBytesOfTriggers extends ChangesZoneRules {
  constructor() {
    super((right) => ({ getSchedules: (request) => right.getSchedules({ ...request, bytesMax: 1_000_000 }) }));
  }
}

/** Tells the first texts again and again. */
class TellsTextsFromTheStart extends MemoryDataStore {
  override look({ zoneRules, ...request }: contract.LookRequest): Promise<contract.LookReport> {
    return super.look(zoneRules === undefined ? request : { ...request, zoneRules: { ...zoneRules, after: "" } });
  }
}

/** Leaves the rules of the former next fire time beside the new one. */
class ForgetsRulesOfPlans extends MemoryDataStore {
  override commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    return super.commit({ ...request, plans: request.plans.map(({ zoneRules: _, ...plan }) => plan) });
  }
}

export const brokenZones: readonly BrokenStore[] = [
  ...caughtBy("zone rules", RanksKnownRulesAnew, RefusesAdoptions, RanksOwnRulesFirst, RanksByTheClock),
  ...caughtBy("zone rules", ConfirmsAnyFence, IgnoresBytesOfTriggers, TellsTextsFromTheStart, ForgetsRulesOfPlans),
];
