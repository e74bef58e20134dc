// Two programs on one database, which wake each other over MQTT: a job that the second one adds starts in the first one
// within milliseconds. Without the broker, the first one would look into the database every 10 seconds.
//
//     MQTT_URL=mqtt://127.0.0.1:1883 npm start -- brokers/mqtt worker       Node
//     MQTT_URL=mqtt://127.0.0.1:1883 npm start -- brokers/mqtt greet Ada
//
// The same with `deno run -A examples/brokers/mqtt.ts` and `bun run examples/brokers/mqtt.ts`, and with ws:// or wss://
// where only web sockets pass. Stop the server while they run: both go on, and find each other again when it is back.
import process from "node:process";
import { defineTasks, Scheduler } from "escapement";
import { LibsqlDataStore } from "escapement/libsql";
import { MqttEventBroker } from "escapement/mqtt";

const { MQTT_URL = "mqtt://127.0.0.1:1883", DATABASE_URL = "file:jobs.db" } = process.env;
const [, , role = "worker", name = "Ada"] = process.argv;

const tasks = defineTasks({
  greet: { handler: (guest: string) => `Hello, ${guest}, from process ${process.pid}!` },
});

await using scheduler = new Scheduler({
  dataStore: new LibsqlDataStore({ url: DATABASE_URL }),
  // With a quality of service of 1, the server confirms each message. Devices and programs that share the server do
  // not disturb: the topic is the schedulers' alone.
  eventBroker: new MqttEventBroker({ url: MQTT_URL, topic: "greetings/events", publishQos: 1, subscribeQos: 1 }),
});

if (role === "worker") {
  scheduler.use(tasks);
  scheduler.subscribe("jobAcquired", ({ jobId }) => console.log(`running ${jobId}`));
  await scheduler.start();
  console.log("waiting for jobs; Ctrl-C ends it");
  await scheduler.runUntilStopped();
} else {
  const askedAt = performance.now();
  console.log(await scheduler.runJob(tasks.greet, { payload: name }));
  console.log(`after ${Math.round(performance.now() - askedAt)} ms`);
}
