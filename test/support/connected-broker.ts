import { BrokerUnavailableError } from "../../src/brokers/remote/errors.ts";
import type { EventBroker } from "../../src/contracts.ts";
import { silentLogger } from "../../src/core/logger.ts";

/** A broker whose `open()` lasts until there is a connection. On a busy machine a server may answer later than `open()`
 *  waits for it, and then the broker goes on without a connection for a moment, which the caller's logger is not told. */
export function untilConnected<B extends EventBroker>(broker: B): B {
  const open = broker.open.bind(broker);
  broker.open = async ({ logger = silentLogger } = {}) => {
    let isOpening = true;
    let isOut = false;
    let isUntold = false;
    let tellConnected = (): void => {};
    const connected = new Promise<void>((resolve) => {
      tellConnected = resolve;
    });
    const warn = (message: string, ...details: unknown[]): void => {
      const isOutage = isOpening && message.includes("has no connection to");
      isOut ||= isOutage;
      // An outage has a reason, unless there was no time to fail.
      if (isOutage && details.length === 0) isUntold = true;
      else logger.warn(message, ...details);
    };
    const info = (message: string, ...details: unknown[]): void => {
      const isEnd = message.includes("is connected to");
      if (isEnd) tellConnected();
      if (isEnd && isUntold) isUntold = false;
      else logger.info(message, ...details);
    };
    const debug = (message: string, ...details: unknown[]): void => logger.debug(message, ...details);
    const error = (message: string, ...details: unknown[]): void => logger.error(message, ...details);
    await open({ logger: { debug, info, warn, error } });
    if (isOut) await connected;
    isOpening = false;
  };
  return broker;
}

/** How publishing fails once the first try to connect has failed, which on a busy machine may be after `open()`. */
export async function refusalOf(broker: EventBroker): Promise<BrokerUnavailableError> {
  for (;;) {
    const published = broker.publish([{ type: "taskAdded", timestampMs: 1, taskId: "refused" }]);
    const refusal: unknown = await published.then(
      () => new Error("the broker could publish"),
      (error: unknown) => error,
    );
    if (!(refusal instanceof BrokerUnavailableError)) throw refusal;
    if (refusal.cause !== undefined) return refusal;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
