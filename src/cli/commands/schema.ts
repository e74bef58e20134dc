import { PostgresDataStore } from "../../postgres.ts";
import { schemaSql } from "../../stores/d1/mod.ts";
import { type CommandCall, hasOption } from "../command.ts";
import { EXIT } from "../failure.ts";

/** `escapement schema`: the tables of a store. */
export async function run(call: CommandCall): Promise<number> {
  const { out } = call;
  const sql = hasOption(call, "postgres") ? PostgresDataStore.schemaSql() : schemaSql();
  if (out.isJson) out.json({ sql });
  else out.block(sql.trimEnd());
  return EXIT.fine;
}
