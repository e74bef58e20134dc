import { PostgresDataStore } from "../../src/postgres.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { SqliteDataStore } from "../support/sqlite-store.ts";

/** Which store the processes of a chaos run share. */
export type StoreKind = "libsql" | "sqlite" | "postgres";

/** The store at a place: the path of a file or, for libSQL and PostgreSQL, the url of a server. */
export function makeStore(kind: StoreKind, place: string): DataStore {
  if (kind === "postgres") return new PostgresDataStore({ url: place });
  if (kind === "sqlite") return new SqliteDataStore({ path: place });
  return new LibsqlDataStore({ url: place.includes("://") ? place : `file:${place}` });
}
