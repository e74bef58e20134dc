import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresConnection, PostgresDataStore } from "../../src/postgres.ts";
import { LoopbackProxy } from "../support/loopback-proxy.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { expectFiresToGoOn, LOSSES, PLACES } from "./silent-network.ts";

/** On a busy machine an answer takes a second or more: one that is given up too early never comes. */
const TIMEOUT = { seconds: 3 };

const { Bun: bun } = globalThis as {
  readonly Bun?: { readonly SQL: new (url: string, options: object) => BunClient };
};

interface BunClient {
  unsafe(sql: string): { simple(): { raw(): PromiseLike<unknown> } };
  close(options: { timeout: number }): Promise<void>;
}

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server?.stop());

interface Connected {
  readonly connection: PostgresConnection;
  /** How many connections of the client are in use. */
  readonly inUse?: () => number;
  /** Does not wait for what is silent. */
  readonly end?: () => unknown;
}

/** The ways to reach a server. */
const WAYS: Readonly<Record<string, (url: string) => Connected>> = {
  "a url": (url) => ({ connection: { url } }),
  "a pool of pg": (url) => {
    const client = new pg.Pool({ connectionString: url, max: PLACES });
    client.on("error", () => {});
    return { connection: { client }, inUse: () => client.totalCount - client.idleCount, end: () => void client.end() };
  },
  "postgres.js": (url) => {
    const client = postgres(url, { max: PLACES, onnotice: () => {} });
    return { connection: { client }, end: () => client.end({ timeout: 0 }) };
  },
  ...(bun === undefined
    ? {}
    : {
        "the sql of Bun": (url) => {
          const client = new bun.SQL(url, { max: PLACES });
          return { connection: { client }, end: () => client.close({ timeout: 0 }) };
        },
      }),
};

test.concurrent.each(Object.entries(WAYS))(
  `over %s, fires go on after ${LOSSES} times in which all connections went silent`,
  async (way, connect) => {
    const proxy = await LoopbackProxy.start(server.port);
    const { connection, inUse, end } = connect(server.urlAt(proxy.port));
    const schema = way.replaceAll(/\W/g, "_");
    await expectFiresToGoOn(new PostgresDataStore(connection, { schema, timeout: TIMEOUT }), proxy);
    expect(inUse?.() ?? 0).toBe(0);
    await end?.();
    // A client of the application has its own ways.
    if ("url" in connection) await proxy.left();
    await proxy.stop();
  },
);
