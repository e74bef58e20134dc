import { schemaSql } from "../../stores/d1/mod.ts";
import type { CommandCall } from "../command.ts";
import { EXIT } from "../failure.ts";

/** `escapement schema`: the tables of a store on SQLite, libSQL or D1. */
export async function run({ out }: CommandCall): Promise<number> {
  const sql = schemaSql();
  if (out.isJson) out.json({ sql });
  else out.block(sql.trimEnd());
  return EXIT.fine;
}
