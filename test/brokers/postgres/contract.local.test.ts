import postgres from "postgres";
import { afterAll, beforeAll, describe, test } from "vitest";
import { PostgresEventBroker } from "../../../src/postgres.ts";
import { eventBrokerContract } from "../../../src/testing/event-broker-contract.ts";
import { untilConnected } from "../../support/connected-broker.ts";
import { LoopbackProxy } from "../../support/loopback-proxy.ts";
import { PostgresServer } from "../../support/postgres-server.ts";

let server: PostgresServer;
let proxy: LoopbackProxy;
let stranger: postgres.Sql;
beforeAll(async () => {
  server = await PostgresServer.start();
  proxy = await LoopbackProxy.start(server.port);
  stranger = postgres(server.url, { max: 1 });
});
afterAll(async () => {
  await stranger.end({ timeout: 1 });
  await proxy.stop();
  await server.stop();
});

/** Sends what is no broker's, or what a broker of another program sends. Nobody can send more than 7,999 bytes at once:
 *  a larger list goes one by one, without what is too large even then. */
function poster(channel: string): (events: unknown) => Promise<void> {
  const messageOf = (events: unknown): string => JSON.stringify({ escapement: 1, namespace: "", events });
  const fits = (message: string): boolean => new TextEncoder().encode(message).length <= 7999;
  return async (events) => {
    const isList = Array.isArray(events) && !fits(messageOf(events));
    const messages = (isList ? events.map((event) => [event]) : [events]).map(messageOf);
    for (const message of messages.filter(fits)) await stranger.notify(channel, message);
  };
}

describe("PostgresEventBroker by url keeps the contract:", () => {
  for (const [index, { name, run }] of eventBrokerContract.entries()) {
    test(`${name}`, async () => {
      const shared = { url: server.urlAt(proxy.port), channel: `url-${index}` };
      const make = (): PostgresEventBroker => untilConnected(new PostgresEventBroker(shared));
      const neighbour = (): PostgresEventBroker => new PostgresEventBroker({ ...shared, namespace: "other" });
      await run({ make, join: make, neighbour, post: poster(shared.channel), interrupt: () => proxy.cut() });
    });
  }
});

describe("PostgresEventBroker over a client of postgres.js keeps the contract:", () => {
  for (const [index, { name, run }] of eventBrokerContract.entries()) {
    test(`${name}`, async () => {
      // Several connections: what is sent over one could overtake what is sent over another.
      const client = postgres(server.urlAt(proxy.port), { max: 4 });
      const shared = { client, channel: `client-${index}` };
      const make = (): PostgresEventBroker => untilConnected(new PostgresEventBroker(shared));
      const neighbour = (): PostgresEventBroker => new PostgresEventBroker({ ...shared, namespace: "other" });
      await run({ make, join: make, neighbour, post: poster(shared.channel), interrupt: () => proxy.cut() });
      await client.end({ timeout: 1 });
    });
  }
});
