import type { LibsqlClient } from "./client.ts";

/** Settings of a connection that whoever made the client may have changed, and that a new connection would not have. */
const KEPT_SETTINGS = ["synchronous", "wal_autocheckpoint", "temp_store", "cache_size", "foreign_keys", "query_only"];

/** Opens the client's file anew; `pragmas` are the settings of the connection. */
export function reopeningOurs(client: LibsqlClient, pragmas: readonly string[]): () => Promise<void> {
  return async () => {
    await client.reconnect?.();
    for (const sql of pragmas) await client.execute({ sql, args: [] });
  };
}

/**
 * The same for a client that somebody else made, with the settings that its connection has now. Null where it has no file (what
 * is in memory would be lost) or cannot be opened anew.
 */
export async function reopeningTheirs(client: LibsqlClient): Promise<(() => Promise<void>) | null> {
  if (client.protocol !== "file" || client.reconnect === undefined) return null;
  const databases = await client.execute({
    sql: "SELECT file FROM pragma_database_list WHERE name = 'main'",
    args: [],
  });
  if (!databases.rows[0]?.[0]) return null;
  const pragmas: string[] = [];
  for (const setting of KEPT_SETTINGS) {
    const { rows } = await client.execute({ sql: `PRAGMA ${setting}`, args: [] });
    pragmas.push(`PRAGMA ${setting} = ${Number(rows[0]?.[0])}`);
  }
  return reopeningOurs(client, pragmas);
}
