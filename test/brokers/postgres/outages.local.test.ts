import { inspect } from "node:util";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BrokerUnavailableError, type PostgresBrokerOptions, PostgresEventBroker } from "../../../src/postgres.ts";
import type { EventRecord } from "../../../src/records/events.ts";
import { recordingLogger } from "../../scheduler/support.ts";
import { refusalOf, untilConnected } from "../../support/connected-broker.ts";
import { freePort } from "../../support/free-port.ts";
import { PostgresServer } from "../../support/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start({ settings: ["idle_session_timeout=2s"], tls: true });
});
afterAll(() => server.stop());

function eventOf(taskId: string): EventRecord {
  return { type: "taskAdded", timestampMs: 1, taskId };
}

/** Resolves when a broker has had its next gap. */
function nextGap(broker: PostgresEventBroker): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = broker.onGap(() => {
      unsubscribe();
      resolve();
    });
  });
}

/** Resolves with the next event. */
function nextEvent(broker: PostgresEventBroker): Promise<EventRecord> {
  return new Promise((resolve) => {
    const unsubscribe = broker.subscribe((event) => {
      unsubscribe();
      resolve(event);
    });
  });
}

/** Two open brokers on a channel of their own. */
async function pair(options: PostgresBrokerOptions): Promise<{
  readonly here: PostgresEventBroker;
  readonly there: PostgresEventBroker;
  close(): Promise<void>;
}> {
  const make = (): PostgresEventBroker => untilConnected(new PostgresEventBroker(options));
  const [here, there] = [make(), make()];
  await Promise.all([here.open(), there.open()]);
  return { here, there, close: async () => void (await Promise.all([here.close(), there.close()])) };
}

/** Runs statements on a connection of their own. */
async function run(statement: string): Promise<readonly postgres.Row[]> {
  const sql = postgres(server.url, { max: 1, connection: NEVER_IDLE });
  try {
    return await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The server's limit for idle connections is not for these. */
const NEVER_IDLE = { idle_session_timeout: "0" as unknown as number };

const TERMINATE =
  "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query ilike '%listen %'";

describe("PostgresEventBroker", () => {
  test("tells of a gap when the server was restarted, and carries events again", async () => {
    const { here, there, close } = await pair({ url: server.url, channel: "restart" });
    const gaps = [nextGap(here), nextGap(there)];
    await server.restart();
    await Promise.all(gaps);
    const heard = nextEvent(there);
    await here.publish([eventOf("a")]);
    expect(await heard).toEqual(eventOf("a"));
    await close();
  });

  test("tells of a gap when an administrator ended its connection, and carries events again", async () => {
    const { here, there, close } = await pair({ url: server.url, channel: "terminated" });
    const gaps = [nextGap(here), nextGap(there)];
    await run(TERMINATE);
    await Promise.all(gaps);
    const heard = nextEvent(there);
    await here.publish([eventOf("a")]);
    expect(await heard).toEqual(eventOf("a"));
    await close();
  });

  test("does the same over a client that was given", async () => {
    const client = postgres(server.url, { max: 2, connection: NEVER_IDLE });
    const { here, there, close } = await pair({ client, channel: "terminated-client" });
    const gaps = [nextGap(here), nextGap(there)];
    await run(TERMINATE);
    await Promise.all(gaps);
    const heard = nextEvent(there);
    await here.publish([eventOf("a")]);
    expect(await heard).toEqual(eventOf("a"));
    await close();
    await client.end({ timeout: 1 });
  });

  test("is opened while the server is away, says so once, and has a gap when the server is there", async () => {
    const { logger, entries } = recordingLogger();
    await server.kill();
    const broker = new PostgresEventBroker({ url: server.url });
    await broker.open({ logger });
    await expect(broker.publish([eventOf("a")])).rejects.toThrow(BrokerUnavailableError);
    const gap = nextGap(broker);
    await server.resume();
    await gap;
    await broker.publish([eventOf("a")]);
    expect(entries.map(({ level, message }) => [level, message])).toEqual([
      [
        "warn",
        `escapement: the event broker has no connection to postgres://127.0.0.1:${server.port}/postgres, and goes on ` +
          "trying; until then, schedulers notice each other's changes with a delay",
      ],
      ["info", `escapement: the event broker is connected to postgres://127.0.0.1:${server.port}/postgres`],
    ]);
    await broker.close();
  });

  test("a wrong password delays the broker, and shows nowhere", async () => {
    const { logger, entries } = recordingLogger();
    const url = server.urlWith("my wrong password");
    const broker = new PostgresEventBroker({ url });
    await broker.open({ logger });
    const failure = await refusalOf(broker);
    expect(String(failure.cause)).toContain('password authentication failed for user "postgres"');
    const shown = inspect([broker, failure, entries], { depth: 20, showHidden: true });
    expect(shown).not.toContain("my wrong password");
    expect(shown).not.toContain("my%20wrong%20password");
    await broker.close();
  });

  test("a broker that is idle for longer than the server allows stays connected, and repeats nothing", async () => {
    const { here, there, close } = await pair({ url: server.url, channel: "idle" });
    const heard: EventRecord[] = [];
    let gaps = 0;
    there.subscribe((event) => heard.push(event));
    there.onGap(() => gaps++);
    await here.publish([eventOf("a")]);
    // The server ends this connection when the brokers have been idle for as long.
    let onEnd = (): void => {};
    const ended = new Promise<void>((resolve) => {
      onEnd = resolve;
    });
    const witness = postgres(server.url, { max: 1, onclose: () => onEnd() });
    await witness`select 1`;
    await ended;
    const last = nextEvent(there);
    await here.publish([eventOf("b")]);
    await last;
    expect([heard, gaps]).toEqual([[eventOf("a"), eventOf("b")], 0]);
    await witness.end({ timeout: 1 });
    await close();
  });

  test("an event of more bytes than a message may have arrives without what receivers can do without", async () => {
    const { here, there, close } = await pair({ url: server.url, channel: 'Größe "7999"' });
    // 4,500 characters, and 9,000 bytes.
    const note = "ü".repeat(4500);
    const event: EventRecord = {
      type: "jobProgressed",
      timestampMs: 1,
      jobId: "job",
      taskId: "task",
      scheduleId: null,
      fraction: 0.5,
      note,
    };
    const heard = nextEvent(there);
    await here.publish([event]);
    expect(await heard).toEqual({ ...event, note: `${"ü".repeat(2000)}...` });
    await close();
  });

  test("hundreds of events of one call arrive, in order, however many messages they fill", async () => {
    const { here, there, close } = await pair({ url: server.url, channel: "many" });
    const events = Array.from({ length: 700 }, (_, index) => eventOf(`\\"ä{,}\n ${index} ${"ö".repeat(index % 90)}`));
    const heard: EventRecord[] = [];
    const all = new Promise<void>((resolve) => {
      there.subscribe((event) => {
        heard.push(event);
        if (heard.length === events.length) resolve();
      });
    });
    await here.publish(events);
    await all;
    expect(heard).toEqual(events);
    await close();
  });

  test("stores that share a channel hear only their own namespace", async () => {
    const shared = { url: server.url, channel: "shared" };
    const { here, there, close } = await pair({ ...shared, namespace: "one" });
    const other = await pair({ ...shared, namespace: "two" });
    const heard: EventRecord[] = [];
    there.subscribe((event) => heard.push(event));
    await other.here.publish([eventOf("two")]);
    const last = nextEvent(there);
    await here.publish([eventOf("one")]);
    await last;
    expect(heard).toEqual([eventOf("one")]);
    await Promise.all([close(), other.close()]);
  });

  test("reaches the server over a unix socket", async () => {
    const url = `${server.url}?host=${encodeURIComponent(server.socketFolder)}`;
    const { here, there, close } = await pair({ url });
    const heard = nextEvent(there);
    await here.publish([eventOf("a")]);
    expect(await heard).toEqual(eventOf("a"));
    await close();
  });

  test("goes over TLS, and refuses a certificate that it does not know", async () => {
    const tls = { ca: await server.certificate() };
    const { here, there, close } = await pair({ url: server.url, channel: "tls", tls });
    const heard = nextEvent(there);
    await here.publish([eventOf("a")]);
    expect(await heard).toEqual(eventOf("a"));
    const isSecure =
      "select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'escapement'";
    expect((await run(isSecure)).map(({ ssl }) => ssl)).toEqual([true, true]);
    await close();
    const stranger = new PostgresEventBroker({ url: server.url, channel: "tls", tls: {} });
    await stranger.open();
    expect(String((await refusalOf(stranger)).cause)).toMatch(/certificate|issuer/i);
    await stranger.close();
  });

  test("tries the hosts of a url one after the other, and tells of an outage where all fail", async () => {
    const [first, second] = [await freePort(), await freePort()];
    const withHosts = (hosts: string): string => server.url.replace("127.0.0.1", hosts);
    const { logger, entries } = recordingLogger();
    const broker = untilConnected(new PostgresEventBroker({ url: withHosts(`127.0.0.1:${first},127.0.0.1`) }));
    await broker.open({ logger });
    await broker.publish([eventOf("a")]);
    await broker.close();
    expect(entries).toEqual([]);
    const lost = new PostgresEventBroker({ url: `postgres://127.0.0.1:${first},127.0.0.1:${second}/x` });
    await lost.open({ logger });
    await expect(lost.publish([eventOf("a")])).rejects.toThrow();
    await lost.close();
    expect(entries.map(({ message }) => message)).toEqual([expect.stringMatching(/has no connection to/)]);
  });

  test("leaves no connection on the server when it is closed, while it connects, too", async () => {
    const brokers = Array.from({ length: 5 }, () => new PostgresEventBroker({ url: server.url }));
    const opened = brokers.map((broker) => broker.open());
    await Promise.all(brokers.map((broker) => broker.close()));
    await Promise.all(opened);
    const { close } = await pair({ url: server.url });
    await close();
    const isOver = async (): Promise<boolean> =>
      (await run("select 1 from pg_stat_activity where application_name = 'escapement'")).length === 0;
    while (!(await isOver()));
  });
});
