import * as v from "valibot";
import { checker, hasMethods } from "../../core/check.ts";
import { cloudflareEntries, wrongArgument } from "../cloudflare-sqlite/options.ts";
import { type CheckedSharedOptions, SHARED_SYNONYMS, type SharedStoreOptions } from "../sql/store-options.ts";
import type { DurableObjectSqlStorage } from "./storage.ts";

/** Options of a {@link DurableObjectDataStore}. */
export interface DurableObjectStoreOptions extends SharedStoreOptions {}

const checkStoreOptions = checker(() => v.strictObject(cloudflareEntries()), { synonyms: SHARED_SYNONYMS });

/** @throws {OptionsError} when the value is no storage of a Durable Object that has SQL */
export function checkStorage(storage: DurableObjectSqlStorage): DurableObjectSqlStorage {
  if (hasMethods(storage, ["transactionSync"]) && hasSql(storage)) return storage;
  const what = "the storage of a Durable Object (ctx.storage) whose class keeps SQLite";
  throw wrongArgument("new DurableObjectDataStore(storage)", what, storage, adviceOn(storage));
}

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: DurableObjectStoreOptions): CheckedSharedOptions {
  return checkStoreOptions(options, "new DurableObjectDataStore(storage, options)");
}

/** An object whose class does not keep SQLite has `sql` too, which throws when it is asked for anything. */
function hasSql({ sql }: DurableObjectSqlStorage): boolean {
  try {
    Reflect.get(sql, "databaseSize");
    return hasMethods(sql, ["exec"]);
  } catch {
    return false;
  }
}

function adviceOn(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return "write new DurableObjectDataStore(ctx.storage)";
  if (hasMethods(value, ["transactionSync", "setAlarm"])) {
    return "name the class under new_sqlite_classes in the migrations of the Worker's configuration";
  }
  if ("storage" in value && "id" in value) return "write ctx.storage";
  if (hasMethods(value, ["prepare", "batch"])) return "for D1 there is D1DataStore of escapement/d1";
  if (hasMethods(value, ["exec"])) return "write ctx.storage, because transactions belong to it";
  if (hasMethods(value, ["idFromName"])) return "the storage is there only within the object, as ctx.storage";
  return null;
}
