import { expect, test } from "vitest";
import { IdGenerator, systemRandom } from "../../src/core/ids.ts";
import { leveledLogger } from "../../src/core/leveled-logger.ts";
import { LocalEventBroker, MemoryDataStore, registerTrigger, Trigger } from "../../src/mod.ts";
import type { EventRecord } from "../../src/records/events.ts";
import { ZoneCheck } from "../../src/scheduler/driving/zone-check.ts";
import type { Environment } from "../../src/scheduler/environment.ts";
import { EventHub } from "../../src/scheduler/events/event-hub.ts";
import { makeSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { recordingLogger, START, START_MS } from "./support.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The time zone data of a runtime: by how many hours it is off, in each zone. */
type Data = Readonly<Record<string, number>>;

/** The data of the process that is at work. */
let present: Data = {};

/** Fires once a day, at an hour that the data of its first zone tell. */
class Daily extends Trigger {
  readonly zones: readonly string[];
  constructor(zones: readonly string[]) {
    super();
    this.zones = zones;
  }
  override get ruleZones(): readonly string[] {
    return this.zones;
  }
  get #offset(): number {
    return this.zones.reduce((sum, zone) => sum + (present[zone] ?? 0), 0) * HOUR;
  }
  nextMs(afterMs: number): number {
    return (Math.floor((afterMs - this.#offset) / DAY) + 1) * DAY + this.#offset;
  }
  previousMs(beforeMs: number): number {
    return (Math.ceil((beforeMs - this.#offset) / DAY) - 1) * DAY + this.#offset;
  }
  toJSON() {
    return { type: "test:zones", version: 1, zones: this.zones };
  }
  describe(): string {
    return "Daily";
  }
}
registerTrigger("test:zones", { version: 1, fromJSON: ({ zones }) => new Daily(zones as string[]) });

function fingerprintOf(data: Data): (zone: string, window: number) => string | null {
  return (zone, window) => (data[zone] === undefined ? null : `${window} 0000000${data[zone]}`);
}

interface Compared {
  readonly events: EventRecord[];
  readonly warnings: number;
}

/** A process with data of its own: it looks, as a scheduler does when it starts, and computes anew. */
function restart(store: MemoryDataStore, data: Data, policy: "auto" | "adopt" = "auto"): Promise<Compared> {
  return processOf(store, data, policy)(START_MS);
}

/** A process that compares its data with those of the store whenever it is asked to. */
function processOf(store: MemoryDataStore, data: Data, policy: "auto" | "adopt"): (now: number) => Promise<Compared> {
  const clock = new VirtualClock(START);
  const { logger, entries } = recordingLogger();
  const leveled = leveledLogger(logger, "warn");
  const events = new EventHub(new LocalEventBroker(), leveled);
  events.open();
  const happened: EventRecord[] = [];
  events.watch("zoneRulesChanged", (event) => happened.push(event));
  const env: Environment = {
    ...{ store, clock, random: systemRandom, ids: new IdGenerator(), events, logger: leveled },
    ...{ identity: "a", instanceId: "a 1", leaseMs: 60_000 },
  };
  const check = new ZoneCheck({ env, policy, fingerprintOf: fingerprintOf(data) });
  return async (now) => {
    present = data;
    const zoneRules = check.asksFor(now);
    const view = { now, schedulerId: "a", jobs: null, schedules: null, tasks: null };
    const report = await store.look({ ...view, ...(zoneRules === undefined ? {} : { zoneRules }) });
    check.heard(report.zoneRules ?? [], now);
    await check.run(() => true);
    return { events: happened, warnings: entries.length - happened.length };
  };
}

/** A schedule that a process with these data added. */
async function added(store: MemoryDataStore, data: Data, id = "schedule"): Promise<void> {
  present = data;
  const zones = Object.keys(data).sort();
  const trigger = new Daily(zones);
  const zoneRules = zones.map((zone) => `${zone} ${fingerprintOf(data)(zone, 2028)}`).join();
  const times = { createdAt: START_MS, nextFireTime: trigger.nextMs(START_MS) };
  const schedule = makeSchedule({ id, trigger: JSON.stringify(trigger), zoneRules, ...times });
  await store.addSchedules([{ schedule, conflictPolicy: "error" }]);
}

async function hourOf(store: MemoryDataStore, id = "schedule"): Promise<number> {
  return (((await store.getSchedule(id))?.nextFireTime ?? 0) - START_MS) / HOUR;
}

const OLD = { "Europe/Berlin": 1 };
const NEW = { "Europe/Berlin": 2 };
const NEWEST = { "Europe/Berlin": 3 };

test("rules that were seen later move the schedules of the others once, and these never move them back", async () => {
  const store = new MemoryDataStore();
  await added(store, OLD);
  const hours: number[] = [await hourOf(store)];
  for (const data of [OLD, NEW, OLD, NEW, OLD, NEWEST, NEW, OLD, NEWEST, NEW]) {
    await restart(store, data);
    hours.push(await hourOf(store));
  }
  expect(hours).toEqual([1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3]);
});

test("what a process with outranked rules adds moves at the next start of one with newer rules", async () => {
  const store = new MemoryDataStore();
  await added(store, OLD);
  await restart(store, NEW);
  await added(store, OLD, "late");
  expect(await restart(store, OLD)).toEqual({ events: [], warnings: 1 });
  expect([await hourOf(store), await hourOf(store, "late")]).toEqual([2, 1]);
  const { events } = await restart(store, NEW);
  expect(events).toMatchObject([{ total: 1, schedules: [{ scheduleId: "late" }] }]);
  expect([await hourOf(store), await hourOf(store, "late")]).toEqual([2, 2]);
});

test("of two processes that start at once, the later one in the store moves what the other one moved", async () => {
  const store = new MemoryDataStore();
  await added(store, OLD);
  await Promise.all([restart(store, NEW), restart(store, NEW)]);
  expect(await hourOf(store)).toBe(2);
  await restart(store, NEWEST);
  await Promise.all([restart(store, NEW), restart(store, OLD)]);
  expect(await hourOf(store)).toBe(3);
});

test("processes that adopt their rules and stay resident do so once each, and never move schedules to and fro", async () => {
  const store = new MemoryDataStore();
  await added(store, OLD);
  const [one, other] = [processOf(store, NEW, "adopt"), processOf(store, OLD, "adopt")];
  const hours: number[] = [];
  for (const now of [0, 1, 2, 3].map((hour) => START_MS + hour * HOUR)) {
    for (const compare of [one, other]) {
      await compare(now);
      hours.push(await hourOf(store));
    }
  }
  expect(hours).toEqual([2, 1, 1, 1, 1, 1, 1, 1]);
});

test("a process that adopts its rules moves everything to them, and the others leave it so", async () => {
  const store = new MemoryDataStore();
  await added(store, OLD);
  await restart(store, NEW);
  expect((await restart(store, OLD, "adopt")).events).toMatchObject([{ total: 1 }]);
  expect(await hourOf(store)).toBe(1);
  expect(await restart(store, NEW)).toEqual({ events: [], warnings: 1 });
  expect(await hourOf(store)).toBe(1);
});

test("rules that are newer in one zone and older in another move nothing, or others would move it back", async () => {
  const store = new MemoryDataStore();
  const [mine, yours] = [
    { "Asia/Gaza": 1, "Europe/Berlin": 4 },
    { "Asia/Gaza": 2, "Europe/Berlin": 3 },
  ];
  await added(store, yours);
  const rank = (own: Data, seen: Data): Promise<unknown> => {
    const rules = (data: Data) =>
      Object.keys(data).map((zone) => ({ zone, fingerprint: fingerprintOf(data)(zone, 2028) ?? "" }));
    return store.zoneRules.rank({ now: 0, own: rules(own), seen: rules(seen), adopts: false });
  };
  await rank({ "Asia/Gaza": 2 }, { "Asia/Gaza": 1 });
  await rank({ "Europe/Berlin": 4 }, { "Europe/Berlin": 3 });
  const before = await hourOf(store);
  for (const data of [mine, yours, mine]) {
    await restart(store, data);
    expect(await hourOf(store)).toBe(before);
  }
});

test("what a failure of the store leaves undone, the next start does", async () => {
  const store = new MemoryDataStore();
  for (let index = 0; index < 5; index++) await added(store, OLD, `s-${index}`);
  const hours = async (): Promise<number[]> => Promise.all([0, 1, 2, 3, 4].map((index) => hourOf(store, `s-${index}`)));
  present = NEW;
  const update = store.updateSchedules.bind(store);
  let left = 2;
  store.updateSchedules = async (...given) => {
    if (left-- === 0) throw new Error("the store is out");
    return update(...given);
  };
  await expect(restart(store, NEW)).rejects.toThrow("the store is out");
  expect(await hours()).toEqual([2, 2, 1, 1, 1]);
  await restart(store, NEW);
  expect(await hours()).toEqual([2, 2, 2, 2, 2]);
});
