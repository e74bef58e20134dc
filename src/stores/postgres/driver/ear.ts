import type { AbortSignal } from "../../../core/abort-signal.ts";
import type { PostgresConnection } from "../options.ts";
import { ownClient } from "./own-client.ts";
import { decoded } from "./stand-ins.ts";

/** The channel of a database over which all schemas tell of jobs that somebody asked to cancel, see `cancels`. */
export const CANCEL_CHANNEL = "escapement_cancel";

const LISTEN = `LISTEN ${CANCEL_CHANNEL}`;
const WHO_ANSWERS = "SELECT pg_catalog.pg_backend_pid() AS pid";

type Heard = (jobId: string) => void;

/** A connection that listens. */
interface Listening {
  /** Whether it was lost. */
  readonly isLost: () => boolean;
  /** Settles when the server has answered. */
  readonly confirm: () => PromiseLike<unknown>;
  readonly end: () => unknown;
}

/**
 * Hears of jobs that somebody asked to cancel, over a connection of its own. It is a short cut and nothing else: what
 * it misses, leases tell when they are extended. So its failures are not told.
 */
export class Ear {
  readonly #connection: PostgresConnection;
  readonly #prefix: string;
  readonly #heard = new Set<Heard>();
  #listening: Promise<Listening | null> | null = null;
  #isAsking = false;

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#prefix = `${schema} `;
  }

  /** See `DataStore.hearCancellations`. */
  hear(heard: Heard, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (!this.#heard.has(heard)) {
      this.#heard.add(heard);
      signal.addEventListener("abort", () => this.#deafen(heard), { once: true });
    }
    // A network that went silent has left the last question without an answer.
    if (this.#isAsking) this.close();
    void this.#ask();
  }

  /** Ends the connection, which the next heartbeat of somebody who still hears makes anew. */
  close(): void {
    this.#isAsking = false;
    const former = this.#listening;
    this.#listening = null;
    former?.then((listening) => listening?.end()).catch(() => undefined);
  }

  #deafen(heard: Heard): void {
    this.#heard.delete(heard);
    if (this.#heard.size === 0) this.close();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    this.#listening ??= listeningOf(this.#connection, (text) => this.#received(text));
    const own = this.#listening;
    try {
      const listening = await own;
      if (listening?.isLost() === true) throw new Error("the connection was lost");
      await listening?.confirm();
      if (this.#listening === own) this.#isAsking = false;
    } catch {
      if (this.#listening === own) this.close();
    }
  }

  #received(text: string): void {
    if (!text.startsWith(this.#prefix)) return;
    const jobId = decoded(text.slice(this.#prefix.length));
    for (const heard of this.#heard) heard(jobId);
  }
}

type Received = (text: string) => void;

/** Null where a client has no means to listen, or a pool lends its connections for one transaction each. */
async function listeningOf(connection: PostgresConnection, received: Received): Promise<Listening | null> {
  if ("url" in connection) return overUrl(connection.url, received);
  const { client } = connection;
  if (typeof client === "function") return overPostgresJs(client as Partial<ListeningClient>, received);
  return overPg(client as Partial<PgPool>, received);
}

async function overUrl(url: string, received: Received): Promise<Listening | null> {
  let isLost = false;
  const client = await ownClient(url, {
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    onnotify: (_channel: string, text: string) => received(text),
    onclose: () => {
      isLost = true;
    },
  });
  const end = (): Promise<void> => client.end({ timeout: 0 });
  try {
    const answer = await client.unsafe(WHO_ANSWERS);
    const { pid } = Object(answer[0]) as { readonly pid?: unknown };
    if (pid !== answer.state?.pid) {
      await end();
      return null;
    }
    isLost = false;
    return { isLost: () => isLost, confirm: () => client.unsafe(LISTEN), end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** What postgres.js has besides queries: it makes a connection of its own to listen, and makes that anew. */
interface ListeningClient {
  listen(channel: string, received: Received): Promise<{ unlisten(): Promise<void> }>;
}

async function overPostgresJs(client: Partial<ListeningClient>, received: Received): Promise<Listening | null> {
  // The `sql` of Bun has none.
  const listening = await client.listen?.(CANCEL_CHANNEL, received);
  if (listening === undefined) return null;
  return { isLost: () => false, confirm: async () => undefined, end: () => listening.unlisten() };
}

/** A pool of `pg` tells how it makes its clients. */
interface PgPool {
  readonly options: object;
  readonly Client: new (options: object) => PgConnection;
}

interface PgConnection {
  readonly processID?: number;
  connect(): Promise<unknown>;
  query(text: string): Promise<{ readonly rows: readonly { readonly pid?: number }[] }>;
  on(event: "notification" | "error" | "end", listener: (message: { readonly payload?: string }) => void): unknown;
  end(): Promise<void>;
}

async function overPg({ Client, options }: Partial<PgPool>, received: Received): Promise<Listening | null> {
  if (Client === undefined || options === undefined) return null;
  const client = new Client(options);
  let isLost = false;
  const lost = (): void => {
    isLost = true;
  };
  client.on("error", lost);
  client.on("end", lost);
  client.on("notification", ({ payload = "" }) => received(payload));
  await client.connect();
  const { rows } = await client.query(WHO_ANSWERS);
  if (rows[0]?.pid === client.processID) {
    return { isLost: () => isLost, confirm: () => client.query(LISTEN), end: () => client.end() };
  }
  await client.end();
  return null;
}
