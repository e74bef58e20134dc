import { describe, expect, test } from "vitest";
import { LocalEventBroker } from "../../src/brokers/local.ts";
import type { EventRecord } from "../../src/records/events.ts";
import { eventBrokerContract } from "../../src/testing/event-broker-contract.ts";

/** Names of the cases that a broker fails. */
async function failuresOf(make: () => LocalEventBroker): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of eventBrokerContract) {
    await run({ make }).catch(() => failed.push(name));
  }
  return failed;
}

class Doubling extends LocalEventBroker {
  override async publish(events: readonly EventRecord[]): Promise<void> {
    await super.publish(events.flatMap((event) => [event, event]));
  }
}

class Reversing extends LocalEventBroker {
  override async publish(events: readonly EventRecord[]): Promise<void> {
    const [first, second, ...others] = events;
    await super.publish(first !== undefined && second !== undefined ? [second, first, ...others] : events);
  }
}

class Fragile extends LocalEventBroker {
  override subscribe(listener: (event: EventRecord) => void): () => void {
    const unsubscribe = super.subscribe(listener);
    let isOver = false;
    return () => {
      if (isOver) throw new Error("unsubscribed before");
      isOver = true;
      unsubscribe();
    };
  }
}

class Forgetful extends LocalEventBroker {
  override async publish(events: readonly EventRecord[]): Promise<void> {
    await super.publish(events.map((event) => ("error" in event ? { ...event, error: null } : event)) as EventRecord[]);
  }
}

describe("the contract of event brokers catches one that", () => {
  test.each([
    ["doubles events", Doubling],
    ["changes their order", Reversing],
    ["cannot end a subscription twice", Fragile],
    ["loses a field", Forgetful],
  ])("%s", async (_, Broken) => {
    expect(await failuresOf(() => new Broken())).not.toEqual([]);
  });

  test("none of this holds for a sound one", async () => {
    expect(await failuresOf(() => new LocalEventBroker())).toEqual([]);
  });
});
