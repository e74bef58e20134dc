import type { AbortSignal } from "../../../core/abort-signal.ts";
import type { PostgresConnection } from "../options.ts";
import { ownClient, ownClientLike } from "./own-client.ts";
import { decoded } from "./stand-ins.ts";

/** The channel of a database over which all schemas tell of jobs that somebody asked to cancel, see `cancels`. */
export const CANCEL_CHANNEL = "escapement_cancel";

const LISTEN = `LISTEN ${CANCEL_CHANNEL}`;

const WHO_ANSWERS = "SELECT pg_catalog.pg_backend_pid() AS pid";

type CancellationListener = (jobId: string) => void;

/** A connection of its own that listens. */
interface Listening {
  /** Settles when the server has answered: whether anything can be heard there. A pool that lends its connections for
   *  one transaction each loses what listens. Rejects once the connection was lost. */
  readonly confirm: () => Promise<boolean>;
  /** Waits for no answer. */
  readonly end: () => unknown;
}

/**
 * Hears of jobs that somebody asked to cancel, over a connection of its own. It is a short cut and nothing else: what
 * it misses, leases tell when they are extended. So its failures are not told.
 */
export class Ear {
  readonly #connection: PostgresConnection;
  readonly #prefix: string;
  readonly #heard = new Set<CancellationListener>();
  #listening: Promise<Listening | null> | null = null;
  #isAsking = false;

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#prefix = `${schema} `;
  }

  /** See `DataStore.hearCancellations`. */
  hear(heard: CancellationListener, signal: AbortSignal): void {
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

  #deafen(heard: CancellationListener): void {
    this.#heard.delete(heard);
    if (this.#heard.size === 0) this.close();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    this.#listening ??= listeningOf(this.#connection, (text) => this.#received(text));
    const own = this.#listening;
    try {
      const listening = await own;
      if ((await listening?.confirm()) === false && this.#listening === own) {
        this.#listening = Promise.resolve(null);
        listening?.end();
      }
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

/** Null where a client has no means to listen. */
async function listeningOf(connection: PostgresConnection, received: Received): Promise<Listening | null> {
  let isLost = false;
  const settings = {
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    onnotify: (_channel: string, text: string) => received(text),
    onclose: () => {
      isLost = true;
    },
  };
  const isUrl = "url" in connection;
  if (!isUrl && typeof connection.client !== "function")
    return overPg(connection.client as Partial<ClientMaker>, received);
  const client = await (isUrl ? ownClient(connection.url, settings) : ownClientLike(connection.client, settings));
  if (client === null) return null;
  return listening({
    ask: async () => {
      const answer = await client.unsafe(WHO_ANSWERS);
      return [Object(answer[0]).pid, answer.state?.pid];
    },
    listen: () => client.unsafe(LISTEN),
    isLost: () => isLost,
    end: () => client.end(),
  });
}

interface Listener {
  /** The number of the process that answers, and of the one that the connection was made to. */
  readonly ask: () => Promise<readonly [unknown, unknown]>;
  readonly listen: () => PromiseLike<unknown>;
  readonly isLost: () => boolean;
  readonly end: () => unknown;
}

function listening({ ask, listen, isLost, end }: Listener): Listening {
  let isDirect = false;
  const confirm = async (): Promise<boolean> => {
    if (isLost()) throw new Error("the connection was lost");
    if (!isDirect) {
      const [answers, isConnected] = await ask();
      if (answers !== isConnected) return false;
      isDirect = true;
    }
    await listen();
    return true;
  };
  return { confirm, end };
}

/** A pool of `pg` tells how it makes its clients. */
interface ClientMaker {
  readonly options: object;
  readonly Client: new (options: object) => PgConnection;
}

interface PgConnection {
  readonly processID?: number;
  readonly connection?: { readonly stream?: { destroy(): unknown } };
  connect(): Promise<unknown>;
  query(text: string): Promise<{ readonly rows: readonly { readonly pid?: number }[] }>;
  on(event: "notification" | "error" | "end", listener: (message: { readonly payload?: string }) => void): unknown;
  end(): Promise<void>;
}

function overPg({ Client, options }: Partial<ClientMaker>, received: Received): Listening | null {
  if (Client === undefined || options === undefined) return null;
  const client = new Client(options);
  let isLost = false;
  const lost = (): void => {
    isLost = true;
  };
  client.on("error", lost);
  client.on("end", lost);
  client.on("notification", ({ payload = "" }) => received(payload));
  return listening({
    ask: async () => {
      await client.connect();
      const { rows } = await client.query(WHO_ANSWERS);
      return [rows[0]?.pid, client.processID];
    },
    listen: () => client.query(LISTEN),
    isLost: () => isLost,
    end: () => {
      void client.end();
      client.connection?.stream?.destroy();
    },
  });
}
