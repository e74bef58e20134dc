import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresBrokerOptions, PostgresEventBroker } from "../../../src/postgres.ts";
import { recordingLogger } from "../../scheduler/support.ts";
import { untilConnected } from "../../support/connected-broker.ts";
import { PgBouncer } from "../../support/pgbouncer.ts";
import { PostgresServer } from "../../support/postgres-server.ts";

let server: PostgresServer;
let bouncer: PgBouncer;
let admin: postgres.Sql;
beforeAll(async () => {
  server = await PostgresServer.start();
  admin = postgres(server.url, { max: 1 });
  bouncer = await PgBouncer.start(server);
});
afterAll(async () => {
  await bouncer?.stop();
  await admin.end({ timeout: 1 });
  await server.stop();
});

/** Ways to a server behind a url: what the broker gets, and how its client is closed. */
const WAYS: Readonly<Record<string, (url: string) => { options: PostgresBrokerOptions; end(): Promise<void> }>> = {
  "by url": (url) => ({ options: { url }, end: async () => {} }),
  "over a client": (url) => {
    const client = postgres(url, { max: 2, prepare: false });
    return { options: { client }, end: () => client.end({ timeout: 1 }) };
  },
};

/** Brokers over the pool and beside it. */
function brokersOf(options: PostgresBrokerOptions): readonly [PostgresEventBroker, PostgresEventBroker] {
  const make = (own: PostgresBrokerOptions): PostgresEventBroker => untilConnected(new PostgresEventBroker(own));
  return [make(options), make({ url: server.url })];
}

describe.each(Object.entries(WAYS))("a PostgreSQL broker %s", (_, connect) => {
  test("says once that a pool in transaction mode keeps it from hearing, and sends all the same", async () => {
    const { options, end } = connect(bouncer.urlOf("transaction"));
    const { logger, entries } = recordingLogger();
    const [deaf, direct] = brokersOf(options);
    await Promise.all([deaf.open({ logger }), direct.open()]);
    while (entries.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(entries.map(({ level }) => level)).toEqual(["warn"]);
    expect(entries[0]?.message).toContain("PgBouncer's pool_mode = transaction");
    expect(entries[0]?.message).toContain("give the broker the address of PostgreSQL itself");
    const heard = new Promise<void>((resolve) => {
      direct.subscribe(() => resolve());
    });
    await deaf.publish([{ type: "taskAdded", timestampMs: 1, taskId: "a" }]);
    await heard;
    await Promise.all([deaf.close(), direct.close()]);
    await end();
  });

  test("hears over a pool in session mode, and says nothing", async () => {
    const { options, end } = connect(bouncer.urlOf("session"));
    const { logger, entries } = recordingLogger();
    const [pooled, direct] = brokersOf(options);
    await Promise.all([pooled.open({ logger }), direct.open()]);
    // PgBouncer says so to the server when a client has gone: here, that of the broker's test, which is then over.
    const isTested = async (): Promise<boolean> =>
      (await admin`select 1 from pg_stat_activity where query = 'DISCARD ALL'`).length > 0;
    while (!(await isTested()));
    const heard = new Promise<void>((resolve) => {
      pooled.subscribe(() => resolve());
    });
    await direct.publish([{ type: "taskAdded", timestampMs: 1, taskId: "a" }]);
    await heard;
    expect(entries).toEqual([]);
    await Promise.all([pooled.close(), direct.close()]);
    await end();
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where query = 'DISCARD ALL'`;
  });
});
