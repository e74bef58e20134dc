import { shown } from "../../core/option-errors.ts";
import { timerHost } from "../../core/timer-host.ts";
import { RECONNECT_PAUSE_MS_MAX } from "../remote/limits.ts";
import type { Link, LinkListener } from "../remote/link.ts";
import type { MqttClient, MqttQos } from "./client.ts";

/** What a link sends to and listens to. */
export interface TopicSettings {
  readonly topic: string;
  readonly publishQos: MqttQos;
  readonly subscribeQos: MqttQos;
}

interface OutgoingMessage {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** How many links of this process listen to a topic through one client. The last one unsubscribes. */
const listenerCounts = new WeakMap<MqttClient, Map<string, number>>();

/** A link through one client, which connects and disconnects without this link. */
export class TopicLink implements Link {
  readonly #client: MqttClient;
  readonly #settings: TopicSettings;
  readonly #isAlone: boolean;
  readonly #listener: LinkListener;
  /** Why the client failed last. */
  #failure: unknown;
  #isClosed = false;
  #stopTimer = (): void => {};
  #answerPing = (): void => {};
  /** Messages that were not given to the client yet: those that came last, in order, and those before them,
   *  backwards. */
  #waiting: OutgoingMessage[] = [];
  #nextBackwards: OutgoingMessage[] = [];
  #isWriting = false;
  readonly #unanswered = new Set<OutgoingMessage>();
  readonly #undo: (() => void)[] = [];

  /** @param isAlone whether nobody else uses the client */
  constructor(client: MqttClient, settings: TopicSettings, isAlone: boolean, listener: LinkListener) {
    this.#client = client;
    this.#settings = settings;
    this.#isAlone = isAlone;
    this.#listener = listener;
  }

  start(): this {
    changeListenerCount(this.#client, this.#settings.topic, 1);
    this.#on("connect", () => this.#subscribe());
    this.#on("close", () => this.#lose());
    this.#on("end", () => this.#lose());
    this.#on("error", (error) => {
      this.#failure = error;
    });
    this.#on("disconnect", (packet) => {
      this.#failure = new Error(goodbyeOf(packet));
    });
    this.#on("packetreceive", (packet) => {
      if (Object(packet).cmd === "pingresp") this.#answerPing();
    });
    this.#on("message", (topic, payload, packet) => {
      if (topic === this.#settings.topic) this.#receive(payload, packet);
    });
    if (this.#client.connected) this.#subscribe();
    return this;
  }

  async send(messages: readonly string[]): Promise<void> {
    // The client would keep the message for later otherwise, when it is of no use any more.
    if (!this.#client.connected) throw new Error("the client is not connected");
    await Promise.all(messages.map((message) => this.#publish(message)));
  }

  /** Never rejects: when a connection ends, nobody waits for its answer any more. */
  ping(): Promise<void> {
    return new Promise((resolve) => {
      this.#answerPing = resolve;
      this.#client.sendPing();
    });
  }

  /** The client is not this link's to end. The server's answer, should it come, makes the link connected again. */
  reconnect(reason: unknown): void {
    this.#listener.lost(reason);
    if (this.#client.connected) this.#tellAnswered();
  }

  /** Ends its own subscription, and leaves the client as it is. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTimer();
    for (const undo of this.#undo.splice(0)) undo();
    this.#rejectMessages();
    const { topic } = this.#settings;
    const isLast = changeListenerCount(this.#client, topic, -1) === 0;
    if (isLast && !this.#isAlone && this.#client.connected) this.#client.unsubscribe(topic, () => {});
  }

  #publish(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#write();
    });
  }

  /** Servers count the messages that they have not answered yet, and refuse further ones. */
  #write(): void {
    const unansweredMax = this.#settings.publishQos === 0 ? UNWRITTEN_MAX : UNANSWERED_MAX;
    // The client may answer within the call.
    if (this.#isWriting) return;
    this.#isWriting = true;
    try {
      while (this.#unanswered.size < unansweredMax) {
        const message = this.#takeNext();
        if (message === undefined) return;
        this.#give(message);
      }
    } finally {
      this.#isWriting = false;
    }
  }

  #give(message: OutgoingMessage): void {
    const { topic, publishQos: qos } = this.#settings;
    this.#unanswered.add(message);
    this.#client.publish(topic, message.text, { qos, retain: false }, (error) => {
      if (!this.#unanswered.delete(message)) return;
      if (error === undefined || error === null) message.resolve();
      else message.reject(error);
      this.#write();
    });
  }

  /** Taking the first of a long array would move all the others. */
  #takeNext(): OutgoingMessage | undefined {
    if (this.#nextBackwards.length === 0) {
      this.#nextBackwards = this.#waiting.reverse();
      this.#waiting = [];
    }
    return this.#nextBackwards.pop();
  }

  #subscribe(): void {
    this.#stopTimer();
    const { topic, subscribeQos: qos } = this.#settings;
    // With `nl`, brokers that share a client would not hear each other.
    const ofVersion5 = this.#client.options.protocolVersion === 5 ? { nl: this.#isAlone, rh: SEND_NO_RETAINED } : {};
    this.#client.subscribe(topic, { qos, ...ofVersion5 }, (error) => {
      if (this.#isClosed || !this.#client.connected) return;
      // After a lost connection, the client subscribes by itself, and does not say when the server has answered.
      if (error === undefined || error === null) return this.#tellAnswered();
      this.#stopTimer = timerHost.startTimer(() => this.#subscribe(), RECONNECT_PAUSE_MS_MAX);
      this.#listener.lost(error);
    });
  }

  #tellAnswered(): void {
    void this.ping().then(() => {
      if (this.#isClosed || !this.#client.connected) return;
      this.#failure = undefined;
      this.#listener.connected();
    });
  }

  #receive(payload: unknown, packet: unknown): void {
    // What the server has kept is of the past.
    if (typeof packet === "object" && packet !== null && Reflect.get(packet, "retain") === true) return;
    this.#listener.received(payload instanceof Uint8Array ? decoder.decode(payload) : String(payload));
  }

  #lose(): void {
    this.#stopTimer();
    this.#answerPing = () => {};
    this.#rejectMessages();
    this.#listener.lost(this.#failure ?? this.#unexplained());
  }

  /** Servers end the older connection of two clients with one name, and many of them do not say so. */
  #unexplained(): Error | undefined {
    const { clientId = "" } = this.#client.options;
    if (RANDOM_NAME.test(clientId)) return undefined;
    return new Error(
      "the connection ended, and the server gave no reason; it ends the older one of two clients with the clientId " +
        `${shown(clientId)}: give each broker its own, or none`,
    );
  }

  #rejectMessages(): void {
    const lost = [...this.#unanswered, ...this.#nextBackwards.reverse(), ...this.#waiting];
    this.#unanswered.clear();
    this.#nextBackwards = [];
    this.#waiting = [];
    for (const { reject } of lost) reject(new Error("the connection was lost before the server had answered"));
  }

  #on(event: string, listener: (...facts: unknown[]) => void): void {
    this.#client.on(event, listener);
    this.#undo.push(() => this.#client.off(event, listener));
  }
}

/** Servers allow 20 or more for a client, which several brokers may share. */
const UNANSWERED_MAX = 8;

/** Most messages that wait until the socket takes more. For each of them the client adds a listener to the socket, and
 *  removing a listener takes longer the more there are. */
const UNWRITTEN_MAX = 100;

const decoder = new TextDecoder();

/** The value of `rh` by which the server sends no message that it keeps. */
const SEND_NO_RETAINED = 2;

/** What this library and MQTT.js call a client that was given no name. */
const RANDOM_NAME = /^(escapement-[\da-f-]{36}|mqttjs_\w+|)$/;

/** The reason code of a server that has got another client with the same id. */
const TAKEN_OVER = 142;

function goodbyeOf(packet: unknown): string {
  const code: unknown = typeof packet === "object" && packet !== null ? Reflect.get(packet, "reasonCode") : undefined;
  if (code === TAKEN_OVER) return "another client connected with the same clientId; give each broker its own, or none";
  return `the server ended the connection with reason code ${String(code)}`;
}

function changeListenerCount(client: MqttClient, topic: string, change: number): number {
  const counts = listenerCounts.get(client) ?? new Map<string, number>();
  listenerCounts.set(client, counts);
  const count = (counts.get(topic) ?? 0) + change;
  counts.set(topic, count);
  return count;
}
