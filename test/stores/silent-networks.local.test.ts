import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Scheduler } from "../../src/mod.ts";
import { type PostgresConnection, PostgresDataStore } from "../../src/postgres.ts";
import { LoopbackProxy } from "../support/loopback-proxy.ts";
import { PostgresServer } from "../support/postgres-server.ts";

/** As many losses as end any pool of the size below, if each of them keeps one connection. */
const LOSSES = 10;
const CONNECTIONS_MAX = 4;
const TIMEOUT = { milliseconds: 500 };

const { Bun: bun } = globalThis as {
  readonly Bun?: { readonly SQL: new (url: string, options: object) => BunClient };
};

interface BunClient {
  unsafe(sql: string): { simple(): { raw(): PromiseLike<unknown> } };
  close(options: { timeout: number }): Promise<void>;
}

let server: PostgresServer;
let proxy: LoopbackProxy;
beforeAll(async () => {
  server = await PostgresServer.start();
  proxy = await LoopbackProxy.start(server.port);
});
afterAll(async () => {
  await proxy?.stop();
  await server?.stop();
});

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
    const client = new pg.Pool({ connectionString: url, max: CONNECTIONS_MAX });
    client.on("error", () => {});
    return { connection: { client }, inUse: () => client.totalCount - client.idleCount, end: () => void client.end() };
  },
  "postgres.js": (url) => {
    const client = postgres(url, { max: CONNECTIONS_MAX, onnotice: () => {} });
    return { connection: { client }, end: () => client.end({ timeout: 0 }) };
  },
  ...(bun === undefined
    ? {}
    : {
        "the sql of Bun": (url) => {
          const client = new bun.SQL(url, { max: CONNECTIONS_MAX });
          return { connection: { client }, end: () => client.close({ timeout: 0 }) };
        },
      }),
};

describe.each(Object.entries(WAYS))("a store over %s", (way, connect) => {
  test(`fires go on after ${LOSSES} times in which all connections went silent`, async () => {
    const { connection, inUse, end } = connect(server.urlAt(proxy.port));
    const schema = way.replaceAll(/\W/g, "_");
    const dataStore = new PostgresDataStore(connection, { schema, timeout: TIMEOUT });
    await using scheduler = new Scheduler({ dataStore, logLevel: "silent" });
    let fired = (): void => {};
    await scheduler.schedule("tick", "* * * * * *", () => fired());
    const nextFire = (): Promise<void> => new Promise((resolve) => (fired = resolve));
    const first = nextFire();
    await scheduler.start();
    await first;
    let fires = 0;
    for (let loss = 0; loss < LOSSES; loss++) {
      proxy.silence();
      // What was on its way before may still come.
      for (let again = 0; again < 2; again++) await nextFire();
      fires++;
    }
    expect(fires).toBe(LOSSES);
    expect((await scheduler.health()).isStoreReached).toBe(true);
    expect(inUse?.() ?? 0).toBe(0);
    await scheduler.stop();
    await end?.();
  });
});
