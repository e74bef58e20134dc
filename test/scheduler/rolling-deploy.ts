import { describe, expect, onTestFinished, test } from "vitest";
import type { DataStore, Serializer } from "../../src/contracts.ts";
import {
  DeserializationError,
  registerTrigger,
  Scheduler,
  type SchedulerOptions,
  Trigger,
  type TriggerJSON,
} from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, recordingLogger, START } from "./support.ts";

/** Two versions of a program, each with a store of its own on the same data. */
export type MakeStores = (
  serializers: Readonly<Record<Version, Serializer>>,
) => Promise<Readonly<Record<Version, DataStore>>>;

type Version = "old" | "new";

/** Which version's code runs at present: registered triggers belong to a process, and here one plays two. */
let present: Version = "new";

/** A trigger that the old version of the program does not know. */
class Novel extends Trigger {
  nextMs(afterMs: number): number | null {
    return everySecond().nextMs(afterMs);
  }
  previousMs(beforeMs: number): number | null {
    return everySecond().previousMs(beforeMs);
  }
  toJSON(): TriggerJSON {
    return { type: "test:novel", version: 1 };
  }
  describe(): string {
    return "Novel";
  }
}
registerTrigger("test:novel", {
  version: 1,
  fromJSON: () => {
    if (present === "old") throw new Error("the old version does not know this");
    return new Novel();
  },
});

/** Payloads as the new version writes them, which the old one cannot read. The new one reads both. */
function serializer(version: Version): Serializer {
  return {
    serialize: (value) => (version === "old" ? JSON.stringify(value) : `new:${JSON.stringify(value)}`),
    deserialize(text): unknown {
      if (!text.startsWith("new:")) return JSON.parse(text);
      if (version === "old") throw new DeserializationError("written by a newer version");
      return JSON.parse(text.slice(4));
    },
  };
}

interface Program {
  readonly scheduler: Scheduler;
  readonly ran: unknown[];
  readonly log: readonly unknown[];
  readonly heard: string[];
  /** One tick of this version. Returns how many attempts it started. */
  tick(): Promise<number>;
}

/** What two versions of a program do to each other while one replaces the other. */
export function rollingDeployCases(makeStores: MakeStores): void {
  async function programs(): Promise<Readonly<Record<Version, Program>> & { readonly clock: VirtualClock }> {
    const clock = new VirtualClock(START);
    const stores = await makeStores({ old: serializer("old"), new: serializer("new") });
    const make = (version: Version, options: SchedulerOptions = {}): Program => {
      const { logger, entries } = recordingLogger();
      const quiet = { clock, logger, logLevel: "warn" } as const;
      const scheduler = new Scheduler({ ...quiet, dataStore: stores[version], identity: version, ...options });
      onTestFinished(() => scheduler.stop());
      const ran: unknown[] = [];
      scheduler.task("both", { maxRunningJobs: null }, (payload: unknown) => {
        ran.push(payload);
      });
      const heard: string[] = [];
      scheduler.subscribe(null, ({ type, ...facts }) => {
        if ("schedulerId" in facts && facts.schedulerId === version && "scheduleId" in facts) {
          heard.push(`${type} ${facts.scheduleId}`);
        }
      });
      const tick = async (): Promise<number> => {
        present = version;
        return (await scheduler.tick()).jobsRun;
      };
      return { scheduler, ran, log: entries, heard, tick };
    };
    const old = make("old");
    const fresh = make("new");
    fresh.scheduler.task("new only", (payload: unknown) => {
      fresh.ran.push(payload);
    });
    return { old, new: fresh, clock };
  }

  describe("while a deploy is under way", () => {
    test("the old version leaves schedules that it cannot read to the new one, and tells once of each", async () => {
      const { old, new: fresh, clock } = await programs();
      await fresh.scheduler.addSchedule("both", new Novel(), { id: "novel", coalesce: "all" });
      await old.scheduler.addSchedule("both", everySecond(), { id: "plain", payload: 7 });
      expect([await old.tick(), await clock.advance("PT1S"), await old.tick()]).toEqual([1, undefined, 1]);
      expect([old.ran, old.heard.filter((text) => !text.startsWith("job"))]).toEqual([
        [7, 7],
        ["scheduleDeserializationFailed novel"],
      ]);
      expect(old.log).toHaveLength(1);
      expect(await old.scheduler.getSchedule("novel")).toMatchObject({ paused: false, nextFireTime: at(0) });
      expect([await fresh.tick(), fresh.log]).toEqual([2, []]);
      expect(await fresh.scheduler.getSchedule("novel")).toMatchObject({ paused: false, nextFireTime: at(2) });
    });

    test("the old version takes no jobs of tasks that it does not have", async () => {
      const { old, new: fresh } = await programs();
      await fresh.scheduler.addJob("new only", { payload: 1 });
      expect([await old.tick(), await fresh.tick(), fresh.ran]).toEqual([0, 1, [1]]);
    });

    test("a job whose payload the old version cannot read waits for the new one", async () => {
      const { old, new: fresh, clock } = await programs();
      const retried: unknown[] = [];
      old.scheduler.subscribe("jobRetried", ({ jobId, attempt, error }) => retried.push([jobId, attempt, error?.code]));
      const { id } = await fresh.scheduler.addJob("both", { payload: "for the new one" });
      expect([await old.tick(), await old.tick()]).toEqual([1, 0]);
      expect(retried).toEqual([[id, 1, "deserialization"]]);
      await clock.advance("PT1S");
      expect([await fresh.tick(), fresh.ran, old.ran]).toEqual([1, ["for the new one"], []]);
      expect(await fresh.scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 1 });
    });

    test("a job whose payload nobody can read ends as deserializationFailed after some minutes", async () => {
      const { old, new: fresh, clock } = await programs();
      const { id } = await fresh.scheduler.addJob("both", { payload: 1 });
      let tries = 0;
      for (let minutes = 0; minutes < 10; minutes++) {
        tries += await old.tick();
        await clock.advance("PT1M");
      }
      expect(tries).toBe(10);
      expect([await old.tick(), await old.scheduler.getJobResult(id)]).toMatchObject([
        1,
        { outcome: "deserializationFailed", attempts: 0 },
      ]);
    });
  });
}
