// What the store needs of the clients of PostgreSQL. Their own types would bind the shapes to one version.

/** The answer of one statement, with values as the server writes them in text. */
export interface PgAnswer {
  /** The names of the columns, and the numbers of their types (`pg_type.oid`). */
  readonly columns: readonly (readonly [name: string, type: number])[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Sends statements as one simple query, which is one transaction. One answer for each. */
type SimpleQuery = (statements: readonly string[]) => Promise<readonly PgAnswer[]>;

/** A connection, or a pool of them, that the store has made or was given. */
export interface PostgresLink {
  readonly query: SimpleQuery;
  /** Ends what the store has made. Of what it was given, it gives back what calls hold that have no answer yet. */
  readonly close?: () => Promise<void>;
}

const NO_ROWS: PgAnswer = Object.freeze({ columns: [], rows: [] });

const SEPARATOR = ";\n";

/** A `Pool` or a `Client` of node-postgres (`pg`). */
export interface PgClient {
  /** Runs a text of several statements; values come as text, rows as arrays. */
  query(config: {
    readonly text: string;
    readonly rowMode: "array";
    readonly types: { getTypeParser(): (value: string) => string };
  }): Promise<unknown>;
}

/** The `sql` of postgres.js, or that of Bun. */
export interface PostgresJsClient {
  /** Runs a text of several statements, as a simple query. */
  unsafe(query: string): { simple(): { raw(): PromiseLike<unknown> } };
}

/** A database of PGlite. */
export interface PGliteClient {
  /** Runs statements. @param query one or several of them @param options how rows and values are read */
  exec(query: string, options: object): Promise<unknown>;
  /** Settles once the database is open. */
  readonly waitReady: Promise<void>;
}

/** A client of PostgreSQL: the `sql` of postgres.js or of Bun, a `Pool` or a `Client` of `pg`, or a database of
 *  PGlite. */
export type PostgresStoreClient = PgClient | PostgresJsClient | PGliteClient;

/** How to send queries over a client; null for what is none. */
export function linkOf(client: unknown): PostgresLink | null {
  if (typeof client === "function") {
    const { unsafe, options } = client as unknown as { readonly unsafe?: unknown; readonly options?: unknown };
    if (!isFunction(unsafe)) return null;
    const { adapter } = Object(options) as { readonly adapter?: unknown };
    if (adapter === undefined) return { query: overPostgresJs(client as unknown as PostgresJsClient) };
    // That of Bun speaks to other databases, too.
    return adapter === "postgres" ? { query: overBun(client as unknown as PostgresJsClient) } : null;
  }
  if (typeof client !== "object" || client === null) return null;
  if (isPGlite(client as PostgresStoreClient)) return { query: overPGlite(client as PGliteClient) };
  if (!isFunction(Object(client).query)) return null;
  return isPool(client) ? overPool(client) : { query: overPg(client as PgClient) };
}

/** Whether a client is a database in this process. */
export function isPGlite(client: PostgresStoreClient): client is PGliteClient {
  return "exec" in client && "waitReady" in client;
}

/** A pool or a client of `pg`, which tells of a connection that was lost while nobody used it. Without a listener, that
 *  ends the process. */
interface Emitter {
  on(event: "error", listener: () => void): unknown;
  listeners(event: "error"): readonly unknown[];
}

const ignored = (): void => {};

/** Adds a listener for errors of a client that has none. */
export function hearErrors(client: PostgresStoreClient): void {
  if (isEmitter(client) && client.listeners("error").length === 0) client.on("error", ignored);
}

/** Whether nobody but the store hears the errors of a client. */
export function isUnheard(client: PostgresStoreClient): boolean {
  const listeners = isEmitter(client) ? client.listeners("error") : [];
  return listeners.length > 0 && listeners.every((listener) => listener === ignored);
}

function isEmitter(client: unknown): client is Emitter {
  const { on, listeners, query } = Object(client) as Record<string, unknown>;
  return [on, listeners, query].every(isFunction);
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** A pool of `pg`. */
export interface PgPool extends PgClient, Emitter {
  connect(): Promise<PooledClient>;
  readonly options: object;
}

interface PooledClient extends PgClient {
  on(event: "error", listener: () => void): unknown;
  off(event: "error", listener: () => void): unknown;
  release(isToEnd?: boolean): void;
}

export function isPool(client: unknown): client is PgPool {
  const { connect, idleCount } = Object(client) as Record<string, unknown>;
  return isEmitter(client) && isFunction(connect) && typeof idleCount === "number";
}

interface PgResult {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

function overPg(client: PgClient): SimpleQuery {
  const types = {
    getTypeParser:
      () =>
      (value: string): string =>
        value,
  };
  return async (statements) => {
    const text = statements.join(SEPARATOR);
    const answer = (await client.query({ text, rowMode: "array", types })) as PgResult | PgResult[];
    return [answer].flat().map(answerOfPg);
  };
}

/** The pool would keep a connection on which no answer comes for as long as the connection lasts. */
function overPool(pool: PgPool): PostgresLink {
  const held = new Set<PooledClient>();
  let rounds = 0;
  const giveBack = (client: PooledClient, isToEnd: boolean): void => {
    if (!held.delete(client)) return;
    client.off("error", ignored);
    client.release(isToEnd);
  };
  return {
    query: async (statements) => {
      const round = rounds;
      const client = await pool.connect();
      held.add(client);
      if (round !== rounds) {
        giveBack(client, false);
        throw new Error("the pool had no connection in time");
      }
      // The answer that is waited for rejects, too.
      client.on("error", ignored);
      try {
        return await overPg(client)(statements);
      } finally {
        giveBack(client, false);
      }
    },
    close: async () => {
      rounds++;
      for (const client of held) giveBack(client, true);
    },
  };
}

function answerOfPg({ fields, rows }: PgResult): PgAnswer {
  return { columns: fields.map(({ name, dataTypeID }) => [name, dataTypeID] as const), rows };
}

type RawRow = readonly (Uint8Array | null)[];

type PostgresJsResult = readonly RawRow[] & {
  readonly columns?: readonly { readonly name: string; readonly type: number }[];
};

const decoder = new TextDecoder();

/** Raw values, because the client of an application may have parsers of its own. The client gives a list of the results
 *  of those statements that yield rows, after one of those before the first of them; and no list where that is one. */
function overPostgresJs(client: PostgresJsClient): SimpleQuery {
  return async (statements) => {
    const answer = (await client.unsafe(statements.join(SEPARATOR)).simple().raw()) as object;
    const results = [...(("command" in answer ? [answer] : answer) as PostgresJsResult[])];
    if (statements[0] !== undefined && !yieldsRows(statements[0])) results.shift();
    return statements.map((sql) => {
      const rows = yieldsRows(sql) ? results.shift() : undefined;
      return rows === undefined ? NO_ROWS : answerOfRaw(rows);
    });
  };
}

/** A list of the results of all statements. The SQLSTATE of an error is its `errno`. */
function overBun(client: PostgresJsClient): SimpleQuery {
  return async (statements) => {
    try {
      const answer = await client.unsafe(statements.join(SEPARATOR)).simple().raw();
      return (answer as PostgresJsResult[]).map(answerOfRaw);
    } catch (error) {
      const { errno } = Object(error) as { readonly errno?: unknown };
      if (typeof errno !== "string" || !(error instanceof Error)) throw error;
      throw Object.assign(new Error(error.message, { cause: error }), { code: errno });
    }
  };
}

function answerOfRaw(rows: PostgresJsResult): PgAnswer {
  return {
    columns: (rows.columns ?? []).map(({ name, type }) => [ownName(name), type] as const),
    rows: rows.map((row) => row.map((value) => (value === null ? null : decoder.decode(value)))),
  };
}

/** The name of a column, which the client of an application may turn into `camelCase`, `PascalCase` or `kebab-case`. */
function ownName(name: string): string {
  return name
    .replace(/[A-Z]/g, (letter, place) => `${place === 0 ? "" : "_"}${letter.toLowerCase()}`)
    .replaceAll("-", "_");
}

/** Whether one of the store's statements yields rows. */
function yieldsRows(sql: string): boolean {
  return /^(SELECT|WITH) /.test(sql) || (/^(INSERT|UPDATE|DELETE) /.test(sql) && / RETURNING /.test(sql));
}

/** The types of columns that PGlite would parse. */
const PARSED = [16, 20, 21, 23, 25, 114, 700, 701, 1043, 1700, 3802];

function overPGlite(client: PGliteClient): SimpleQuery {
  const parsers = Object.fromEntries(PARSED.map((type) => [type, (value: string): string => value]));
  return async (statements) =>
    ((await client.exec(statements.join(SEPARATOR), { rowMode: "array", parsers })) as PgResult[]).map(answerOfPg);
}
