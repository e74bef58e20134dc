import type { KnownZoneRules, ZonedSchedule, ZoneRulesStore } from "../../stores/contract/zone-rules-types.ts";
import type { DataStore, ScheduleChanges } from "../../stores/data-store.ts";
import { equal, present } from "./assert.ts";
import { type DataStoreCase, type DataStoreContext, openTwo } from "./contract-case.ts";
import { add, commitPlans, idsOf, look, makeSchedule, numbered, planOf, T0, updateSchedule } from "./makers.ts";

const BERLIN = "Europe/Berlin 2024 00000001";
const PARIS = "Europe/Paris 2024 00000002";
const EVERYTHING = { after: "", limit: 100, bytesMax: 1_000_000 };

function rules(fingerprint: string, zone = "Europe/Berlin"): KnownZoneRules {
  return { zone, fingerprint };
}

/** A case for stores that keep zone rules. */
function zoneCase(
  rules: readonly string[],
  name: string,
  run: (store: DataStore & { readonly zoneRules: ZoneRulesStore }, other: DataStore) => Promise<void>,
): DataStoreCase {
  return {
    name: `zone rules: ${name}`,
    rules,
    async run(context: DataStoreContext) {
      const [store, other] = await openTwo(context);
      if (hasZoneRules(store)) await run(store, other);
    },
  };
}

function hasZoneRules(store: DataStore): store is DataStore & { readonly zoneRules: ZoneRulesStore } {
  return store.zoneRules !== undefined;
}

async function rulesOf(store: DataStore, id = "schedule"): Promise<string | null> {
  return present(await store.getSchedule(id), "the schedule").zoneRules ?? null;
}

function zonedOf(schedule: ReturnType<typeof makeSchedule>): ZonedSchedule {
  const { id, trigger, nextFireTime, lastFireTime, createdAt, fence } = schedule;
  return { id, trigger, nextFireTime, lastFireTime, createdAt, fence };
}

export const zoneCases: readonly DataStoreCase[] = [
  zoneCase(["Z1"], "stay with the schedule that was added with them, or without", async (store, other) => {
    const [zoned, plain] = [makeSchedule({ id: "a", zoneRules: BERLIN }), makeSchedule({ id: "b" })];
    await store.addSchedules(add(zoned, plain));
    equal(await other.getSchedule("a"), zoned, "with rules");
    equal(await other.getSchedule("b"), plain, "without rules");
    const { due } = await look(other, { schedules: {} });
    equal(
      due.map(({ zoneRules }) => zoneRules ?? null),
      [BERLIN, null],
      "looked at",
    );
  }),

  zoneCase(
    ["Z1", "S4"],
    "a schedule that is replaced keeps those of its next fire time if the rule is the same",
    async (store) => {
      await store.addSchedules(add(makeSchedule({ zoneRules: BERLIN })));
      const replace = async (fields: Parameters<typeof makeSchedule>[0]): Promise<string | null> => {
        await store.addSchedules([{ schedule: makeSchedule(fields), conflictPolicy: "replace" }]);
        return rulesOf(store);
      };
      equal(await replace({ zoneRules: PARIS }), BERLIN, "the same rule");
      equal(await replace({ zoneRules: PARIS, triggerRule: "other" }), PARIS, "another rule");
      equal(await replace({ triggerRule: "third" }), null, "a rule without a zone");
    },
  ),

  zoneCase(["Z1"], "a change replaces, removes or leaves them", async (store) => {
    await store.addSchedules(add(makeSchedule({ zoneRules: BERLIN })));
    const change = async (changes: ScheduleChanges): Promise<string | null> =>
      present(await updateSchedule(store, "schedule", changes), "the schedule").zoneRules ?? null;
    equal(await change({ priority: 1 }), BERLIN, "left");
    equal(await change({ zoneRules: PARIS }), PARIS, "replaced");
    equal(await change({ nextFireTime: T0 + 5, zoneRules: null }), null, "removed");
    equal(await rulesOf(store), null, "and stored");
  }),

  zoneCase(["Z1"], "a plan that counts replaces, removes or leaves them", async (store) => {
    await store.addSchedules(add(makeSchedule({ zoneRules: BERLIN })));
    const plan = async (fields: Parameters<typeof planOf>[1], now = T0): Promise<string | null> => {
      const schedule = present(await store.getSchedule("schedule"), "the schedule");
      await commitPlans(store, [planOf(schedule, { nextFireTime: T0, fires: [], ...fields })], { now });
      return rulesOf(store);
    };
    equal(await plan({}), BERLIN, "left");
    equal(await plan({ zoneRules: PARIS }), PARIS, "replaced");
    equal(await plan({ zoneRules: BERLIN, fence: 99 }), PARIS, "a plan of another fence");
    equal(await plan({ zoneRules: BERLIN }, T0 - 1), PARIS, "a plan before the fire time");
    equal(await plan({ zoneRules: null }), null, "removed");
  }),

  zoneCase(["Z2"], "a look tells each text once, in order, page by page", async (store, other) => {
    const texts = [PARIS, BERLIN, BERLIN, undefined, "Asia/Gaza 2024 00000003", PARIS];
    await store.addSchedules(
      add(
        ...texts.map((zoneRules, index) =>
          makeSchedule({ id: numbered("s", index), ...(zoneRules === undefined ? {} : { zoneRules }) }),
        ),
      ),
    );
    const ask = async (after: string, limit: number): Promise<unknown> =>
      (await look(other, { zoneRules: { after, limit } })).zoneRules;
    equal(await ask("", 10), ["Asia/Gaza 2024 00000003", BERLIN, PARIS], "all");
    equal(await ask("", 2), ["Asia/Gaza 2024 00000003", BERLIN], "the first page");
    equal(await ask(BERLIN, 2), [PARIS], "the last page");
    equal(await ask(PARIS, 2), [], "behind the last");
    equal((await look(other)).zoneRules, undefined, "not asked");
  }),

  zoneCase(["Z3"], "rules that are seen for the first time outrank all that came before", async (store, other) => {
    const zones = present(other.zoneRules, "zone rules");
    const ranked = async (
      own: readonly KnownZoneRules[],
      seen: readonly KnownZoneRules[],
      now: number,
      adopts = false,
    ): Promise<string[]> =>
      (await store.zoneRules.rank({ now, own, seen, adopts })).map(({ zone, fingerprint }) => `${zone} ${fingerprint}`);
    const known = (...names: string[]): string[] => names.map((name) => `Europe/Berlin ${name}`);
    equal(await ranked([rules("b")], [rules("a")], T0), known("a", "b"), "own rules are newer than those found");
    equal(await ranked([rules("a")], [rules("b")], T0 + 1), known("a", "b"), "known rules keep their place");
    equal(await ranked([rules("c")], [rules("b")], T0 - 9), known("a", "b", "c"), "whatever the clock says");
    equal(await ranked([rules("a")], [], T0 + 2, true), known("b", "c", "a"), "unless they are adopted");
    equal(await ranked([rules("a")], [], T0 + 3, true), known("b", "c", "a"), "adopted again");
    equal(
      await ranked([rules("x", "Asia/Gaza"), rules("c")], [rules("w", "Asia/Gaza")], T0),
      ["Asia/Gaza w", "Asia/Gaza x", ...known("b", "c", "a")],
      "each zone has an order of its own",
    );
    const ranks = await zones.rank({ now: T0, own: [rules("c")], seen: [], adopts: false });
    equal(
      ranks.every(({ rank }, index) => index === 0 || rank > (ranks[index - 1]?.rank ?? 0)),
      true,
      "no two rules of a zone have one rank",
    );
    equal(await zones.rank({ now: T0, own: [], seen: [], adopts: false }), [], "nothing is asked about");
  }),

  zoneCase(["Z4"], "the schedules of a text come in pages of a bounded size", async (store) => {
    const trigger = JSON.stringify({ type: "interval", start: 1, note: "é".repeat(50) });
    const schedules = Array.from({ length: 5 }, (_, index) =>
      makeSchedule({ id: numbered("s", index), zoneRules: BERLIN, trigger, createdAt: T0 - index, fence: index }),
    );
    await store.addSchedules(add(...schedules, makeSchedule({ id: "other", zoneRules: PARIS })));
    const page = (fields: Partial<typeof EVERYTHING>): ReturnType<ZoneRulesStore["getSchedules"]> =>
      store.zoneRules.getSchedules({ zoneRules: BERLIN, ...EVERYTHING, ...fields });
    equal(await page({}), { items: schedules.map(zonedOf), hasMore: false }, "all");
    const first = await page({ limit: 2 });
    equal([idsOf(first.items), first.hasMore], [["s-00000", "s-00001"], true], "the first page");
    const last = await page({ after: "s-00003", limit: 2 });
    equal([idsOf(last.items), last.hasMore], [["s-00004"], false], "the last page");
    const small = await page({ bytesMax: 1 });
    equal([idsOf(small.items), small.hasMore], [["s-00000"], true], "one that is larger than the bound");
    equal(await page({ after: "s-00004" }), { items: [], hasMore: false }, "an empty page");
  }),

  zoneCase(
    ["Z5"],
    "a confirmation replaces the text where the fence is equal, and nothing else",
    async (store, other) => {
      const schedule = makeSchedule({ zoneRules: BERLIN, fence: 7 });
      await store.addSchedules(add(schedule));
      const confirm = async (fence: number, zoneRules: string | null): Promise<string | null> => {
        await store.zoneRules.confirm([{ scheduleId: "schedule", fence, zoneRules }]);
        return rulesOf(other);
      };
      equal(await confirm(6, PARIS), BERLIN, "another fence");
      equal(await confirm(7, PARIS), PARIS, "the fence");
      equal(await other.getSchedule("schedule"), { ...schedule, zoneRules: PARIS }, "the schedule");
      equal(await confirm(7, null), null, "removed");
      await store.zoneRules.confirm([{ scheduleId: "missing", fence: 7, zoneRules: PARIS }]);
      equal(await store.getSchedule("missing"), null, "a schedule that is gone");
    },
  ),
];
