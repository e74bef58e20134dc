import { Socket } from "node:net";
import { inspect } from "node:util";
import mqtt from "mqtt";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { BrokerUnavailableError, type MqttBrokerOptions, MqttEventBroker } from "../../../src/brokers/mqtt/mod.ts";
import { linkMaker } from "../../../src/brokers/mqtt/mqtt-event-broker.ts";
import { checkOptions } from "../../../src/brokers/mqtt/options.ts";
import { RemoteEventBroker } from "../../../src/brokers/remote/remote-broker.ts";
import type { EventRecord } from "../../../src/contracts.ts";
import { MemoryDataStore } from "../../../src/mod.ts";
import { recordingLogger, setUp } from "../../scheduler/support.ts";
import { makeCertificates } from "../../support/certificates.ts";
import { refusalOf, untilConnected } from "../../support/connected-broker.ts";
import { freePort } from "../../support/free-port.ts";
import { Mosquitto } from "../../support/mosquitto.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { VirtualTimers } from "../virtual-timers.ts";

let server: Mosquitto;
beforeAll(async () => {
  server = await Mosquitto.start();
});
afterAll(() => server.stop());

/** A broker that is closed when the test ends. */
function brokerOf(options: MqttBrokerOptions): MqttEventBroker {
  return untilConnected(brokerInOutage(options));
}

/** One whose `open()` ends without a connection. */
function brokerInOutage(options: MqttBrokerOptions): MqttEventBroker {
  return closedAtEnd(new MqttEventBroker(options));
}

/** One that never asks its server for an answer: on a busy machine the answer may come too late. */
function patientBroker(client: mqtt.MqttClient): RemoteEventBroker {
  return closedAtEnd(untilConnected(new RemoteEventBroker(linkMaker(checkOptions({ client })), new VirtualTimers())));
}

function closedAtEnd<B extends RemoteEventBroker>(broker: B): B {
  onTestFinished(() => broker.close());
  return broker;
}

/** A client that never asks either. */
async function connectedClient(url: string): Promise<mqtt.MqttClient> {
  const client = await mqtt.connectAsync(url, { keepalive: 0 });
  onTestFinished(() => client.endAsync(true));
  return client;
}

function removed(taskId: string): EventRecord {
  return { type: "taskRemoved", timestampMs: 1, taskId };
}

/** The ids of the next events, up to the one named `end`. */
function untilEnd(broker: RemoteEventBroker): Promise<string[]> {
  const ids: string[] = [];
  return new Promise((resolve) => {
    const unsubscribe = broker.subscribe((event) => {
      if (event.type !== "taskRemoved") return;
      if (event.taskId !== "end") return ids.push(event.taskId);
      unsubscribe();
      return resolve(ids);
    });
  });
}

function nextGap(broker: MqttEventBroker): Promise<void> {
  return new Promise((resolve) => {
    const end = broker.onGap(() => {
      end();
      resolve();
    });
  });
}

/** Two brokers that hear each other, over the address of either kind. */
async function expectToHear(options: MqttBrokerOptions, other: MqttBrokerOptions = options): Promise<void> {
  const [sender, receiver] = [brokerOf(options), brokerOf(other)];
  await Promise.all([sender.open(), receiver.open()]);
  const heard = untilEnd(receiver);
  await sender.publish([removed("a"), removed("end")]);
  expect(await heard).toEqual(["a"]);
}

describe("an MQTT broker reaches its server", () => {
  test("over web sockets", () => expectToHear({ url: server.wsUrl, topic: "ws" }));

  test("over a unix socket, beside one over TCP", () =>
    expectToHear({ url: `unix://${server.socket}`, topic: "unix" }, { url: server.url, topic: "unix" }));

  test("with version 3.1.1 of the protocol, beside one with version 5", () =>
    expectToHear({ url: server.url, topic: "v4", protocolVersion: 4 }, { url: server.url, topic: "v4" }));

  test("with the name of its choice", async () => {
    const broker = brokerOf({ url: server.url, topic: "named", clientId: "the one" });
    await broker.open();
    expect(server.output).toContain("as the one (");
  });

  test.each([4, 5] as const)(
    "and names the cause where two have one name, with version %i",
    async (protocolVersion) => {
      const options = { url: server.url, topic: "twins", clientId: `twin ${protocolVersion}`, protocolVersion };
      const { logger, entries } = recordingLogger();
      await brokerOf(options).open({ logger });
      await brokerOf(options).open();
      while (entries.length === 0) await new Promise((resolve) => setImmediate(resolve));
      expect(entries[0]?.level).toBe("warn");
      expect(String(entries[0]?.details[0])).toContain("clientId");
      expect(String(entries[0]?.details[0])).toContain("give each broker its own, or none");
    },
  );

  test("by a socket that keeps no small message back", async () => {
    const setNoDelay = vi.spyOn(Socket.prototype, "setNoDelay");
    onTestFinished(() => setNoDelay.mockRestore());
    await brokerOf({ url: server.url, topic: "small" }).open();
    expect(setNoDelay.mock.calls).toEqual([[true]]);
  });

  test("with a user and a password, in the options or in the url", async () => {
    const guarded = await Mosquitto.start({ username: "ada", password: "p@ss:word" });
    onTestFinished(() => guarded.stop());
    await expectToHear(
      { url: guarded.url, username: "ada", password: "p@ss:word" },
      { url: guarded.url.replace("//", `//ada:${encodeURIComponent("p@ss:word")}@`) },
    );
  });
});

describe("an MQTT broker over TLS", () => {
  // A server with a certificate of an authority that nobody knows.
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let secure: Mosquitto;
  let ca: string;
  let port: number;
  let wsPort: number;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const certificates = await makeCertificates(folder.path);
    ca = certificates.ca;
    [port, wsPort] = [await freePort(), await freePort()];
    const files = [`certfile ${certificates.certFile}`, `keyfile ${certificates.keyFile}`];
    secure = await Mosquitto.start({
      lines: [`listener ${port} 127.0.0.1`, ...files, `listener ${wsPort} 127.0.0.1`, "protocol websockets", ...files],
    });
  });
  afterAll(async () => {
    await secure.stop();
    await folder.remove();
  });

  test("verifies the server's certificate, over TCP and over web sockets", async () => {
    await expectToHear(
      { url: `mqtts://localhost:${port}`, tls: { ca } },
      { url: `mqtt://127.0.0.1:${port}`, tls: { ca } },
    );
    await expectToHear({ url: `wss://localhost:${wsPort}`, tls: { ca } });
    await expectToHear({ url: `mqtts://localhost:${port}`, tls: { rejectUnauthorized: false } });
  });

  test.each(["mqtts", "wss"])("by %s does not connect to a server that it cannot verify", async (scheme) => {
    const { logger, entries } = recordingLogger();
    const broker = brokerInOutage({ url: `${scheme}://localhost:${scheme === "wss" ? wsPort : port}` });
    await broker.open({ logger });
    expect(entries.map(({ level }) => level)).toEqual(["warn"]);
    expect(String((await refusalOf(broker)).cause)).toMatch(/certificate|unknownissuer|self.signed|issuer/i);
  });
});

describe("an MQTT broker whose server", () => {
  test("refuses its password goes on trying, and tells nobody the password", async () => {
    const guarded = await Mosquitto.start({ username: "ada", password: "right" });
    onTestFinished(() => guarded.stop());
    const { logger, entries } = recordingLogger();
    const broker = brokerInOutage({ url: guarded.url.replace("//", "//ada:wrong-one@") });
    await broker.open({ logger });
    const refusal = await refusalOf(broker);
    expect(entries.map(({ level }) => level)).toEqual(["warn"]);
    const told = inspect([entries, refusal], { depth: null });
    expect(told).toMatch(/not authorized|bad user name/i);
    expect(told).not.toContain("wrong-one");
  });

  test("is away when it opens is connected later, and tells of the gap", async () => {
    const late = await Mosquitto.start();
    onTestFinished(() => late.stop());
    await late.kill();
    const { logger, entries } = recordingLogger();
    const broker = brokerInOutage({ url: late.url });
    await broker.open({ logger });
    await expect(broker.publish([removed("a")])).rejects.toThrow(BrokerUnavailableError);
    const gap = nextGap(broker);
    await late.resume();
    await gap;
    await broker.publish([removed("b")]);
    expect(entries.map(({ level }) => level)).toEqual(["warn", "info"]);
  });

  test.each([0, 1, 2] as const)("is restarted hears the others again, with quality of service %i", async (qos) => {
    const mortal = await Mosquitto.start();
    onTestFinished(() => mortal.stop());
    const options = { url: mortal.url, publishQos: qos, subscribeQos: qos };
    const [sender, receiver] = [brokerOf(options), brokerOf(options)];
    await Promise.all([sender.open(), receiver.open()]);
    const own: string[] = [];
    sender.subscribe((event) => void own.push(event.type === "taskRemoved" ? event.taskId : ""));
    const gaps = [nextGap(sender), nextGap(receiver)];
    await mortal.kill();
    // Taken for the server's by a connection that does not know yet, or refused.
    await sender.publish([removed("lost")]).catch(() => {});
    await mortal.resume();
    await Promise.all(gaps);
    const heard = untilEnd(receiver);
    await sender.publish([removed("a"), removed("end")]);
    expect([(await heard).filter((id) => id !== "lost"), own]).toEqual([["a"], ["lost", "a", "end"]]);
  });

  test("hangs is closed all the same", async () => {
    const frozen = await Mosquitto.start();
    onTestFinished(() => frozen.stop());
    const broker = brokerOf({ url: frozen.url, publishQos: 1 });
    await broker.open();
    frozen.freeze(true);
    const publishing = broker.publish([removed("a")]).catch((error: unknown) => error);
    await broker.close();
    expect(await publishing).toBeInstanceOf(BrokerUnavailableError);
    frozen.freeze(false);
  });

  test("hangs for a while gets what was published meanwhile, while few wait at the socket", async () => {
    const own = await Mosquitto.start({ lines: ["max_queued_messages 0"] });
    onTestFinished(() => own.stop());
    const [sending, receiving] = [await connectedClient(own.url), await connectedClient(own.url)];
    const [sender, receiver] = [patientBroker(sending), patientBroker(receiving)];
    await Promise.all([sender.open(), receiver.open()]);
    const heard = untilEnd(receiver);
    const ids = Array.from({ length: 2000 }, (_, index) => `${index} ${"x".repeat(200)}`);
    own.freeze(true);
    // More than the system keeps for the server.
    sending.publish("elsewhere", "x".repeat(20_000_000));
    const published = [...ids, "end"].map((id) => sender.publish([removed(id)]));
    expect(sending.stream.writableNeedDrain).toBe(true);
    expect(sending.stream.listenerCount("drain")).toBeLessThan(200);
    own.freeze(false);
    await Promise.all(published);
    expect(await heard).toEqual(ids);
  });

  test("nobody listens at is told once for an outage", async () => {
    const { logger, entries } = recordingLogger();
    const broker = brokerInOutage({ url: `mqtt://127.0.0.1:${await freePort()}` });
    await broker.open({ logger });
    await broker.open({ logger });
    expect(entries.map(({ message }) => message.replace(/:\d+/, ""))).toEqual([
      "escapement: the event broker has no connection to mqtt://127.0.0.1, and goes on trying; until then, " +
        "schedulers notice each other's changes with a delay",
    ]);
  });
});

describe("the topic of an MQTT broker", () => {
  test("may hold what the server keeps, and what other programs post, without effect", async () => {
    const stranger = await mqtt.connectAsync(server.url);
    onTestFinished(() => stranger.endAsync(true));
    const message = (id: string): string =>
      JSON.stringify({ escapement: 1, namespace: "", events: [{ type: "taskRemoved", timestampMs: 1, taskId: id }] });
    await stranger.publishAsync("kept", message("of the past"), { retain: true, qos: 1 });
    for (const protocolVersion of [4, 5] as const) {
      const broker = brokerOf({ url: server.url, topic: "kept", protocolVersion });
      await broker.open();
      const heard = untilEnd(broker);
      for (const bytes of [Buffer.from([0xff, 0xfe, 0]), Buffer.alloc(0), Buffer.from("hello"), Buffer.from("{}")]) {
        await stranger.publishAsync("kept", bytes, { qos: 1 });
      }
      await stranger.publishAsync("kept/elsewhere", message("of another topic"), { qos: 1 });
      await stranger.publishAsync("kept", message("end"), { qos: 1 });
      expect(await heard).toEqual([]);
    }
  });
});

describe("an MQTT broker over the caller's client", () => {
  test("leaves the client open, and what else the client listens to alone", async () => {
    const client = await mqtt.connectAsync(server.url);
    onTestFinished(() => client.endAsync(true));
    await client.subscribeAsync("own/topic");
    const broker = brokerOf({ client, topic: "shared/topic" });
    await broker.open();
    await broker.close();
    const own = new Promise<string>((resolve) => {
      client.on("message", (topic, payload) => resolve(`${topic}: ${payload.toString()}`));
    });
    await client.publishAsync("own/topic", "still heard");
    expect(await own).toBe("own/topic: still heard");
  });

  test("goes on when another broker over the same client and topic is closed", async () => {
    const client = await mqtt.connectAsync(server.url);
    onTestFinished(() => client.endAsync(true));
    const [stays, leaves] = [brokerOf({ client, topic: "double" }), brokerOf({ client, topic: "double" })];
    await Promise.all([stays.open(), leaves.open()]);
    await leaves.close();
    const sender = brokerOf({ url: server.url, topic: "double" });
    await sender.open();
    const heard = untilEnd(stays);
    await sender.publish([removed("a"), removed("end")]);
    expect(await heard).toEqual(["a"]);
  });

  test("that was ended has no connection", async () => {
    const client = await mqtt.connectAsync(server.url);
    const broker = brokerOf({ client });
    await broker.open();
    await client.endAsync();
    await expect(broker.publish([removed("a")])).rejects.toThrow(BrokerUnavailableError);
  });
});

test("a job that is added in one scheduler runs in another one, which slept", async () => {
  const dataStore = new MemoryDataStore();
  const options = { dataStore, maxIdle: "PT1H" } as const;
  const worker = setUp({ ...options, eventBroker: new MqttEventBroker({ url: server.url, topic: "wake" }) });
  const client = setUp({
    ...options,
    clock: worker.clock,
    eventBroker: new MqttEventBroker({ url: server.url, topic: "wake" }),
  });
  const ran = new Promise<void>((resolve) => {
    worker.scheduler.task("t", () => resolve());
  });
  await worker.scheduler.start();
  await worker.clock.settle();
  await client.scheduler.addJob("t");
  await ran;
});
