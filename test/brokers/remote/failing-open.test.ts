import { expect, test } from "vitest";
import { BrokerUnavailableError } from "../../../src/brokers/remote/errors.ts";
import { RemoteEventBroker } from "../../../src/brokers/remote/remote-broker.ts";
import { setUp } from "../../scheduler/support.ts";

test("a scheduler whose broker cannot be opened runs jobs, and leaves no failure behind when it stops", async () => {
  let tries = 0;
  const eventBroker = new RemoteEventBroker({
    address: "hall://here",
    secrets: [],
    namespace: "",
    bytesMax: 1000,
    make: async () => {
      tries++;
      throw new BrokerUnavailableError("the package is missing");
    },
  });
  const { scheduler } = setUp({ eventBroker });
  const task = scheduler.task("greet", () => "hello");
  await scheduler.start();
  expect(await scheduler.runJob(task)).toBe("hello");
  const before = tries;
  await scheduler.stop();
  // Another try would have nobody to wait for it, and its failure would end the process.
  expect(tries).toBe(before);
});
