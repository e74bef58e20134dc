import type { EventBroker } from "../../src/contracts.ts";
import { silentLogger } from "../../src/core/logger.ts";

/** A broker whose `open()` lasts until there is a connection. On a busy machine a server may answer later than `open()`
 *  waits for it, and then the broker goes on without a connection for a moment. */
export function untilConnected<B extends EventBroker>(broker: B): B {
  let isOut = false;
  let tellConnected = (): void => {};
  const connected = new Promise<void>((resolve) => {
    tellConnected = resolve;
  });
  const info = (message: string): void => {
    if (message.includes("is connected to")) tellConnected();
  };
  const warn = (message: string): void => {
    isOut ||= message.includes("has no connection to");
  };
  const open = broker.open.bind(broker);
  broker.open = async (options = {}) => {
    await open({ logger: { ...silentLogger, info, warn }, ...options });
    if (isOut) await connected;
  };
  return broker;
}
