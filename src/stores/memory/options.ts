import * as v from "valibot";
import { type Checker, checker } from "../../core/check.ts";
import { once } from "../../core/once.ts";
import { isPlain, shown } from "../../core/option-errors.ts";
import { serializerOption } from "../../serializers/option.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import type { LedgerLimits } from "../contract/ledger-types.ts";
import { ledgerOption } from "../shared/ledger-option.ts";

interface CheckedMemoryOptions {
  readonly serializer?: Serializer | undefined;
  readonly ledger: LedgerLimits | null;
}

const optionsSchema: () => v.GenericSchema<unknown, CheckedMemoryOptions> = once(() =>
  v.strictObject({ ledger: ledgerOption(), serializer: v.optional(serializerOption()) }),
);

export const checkMemoryOptions: Checker<CheckedMemoryOptions> = checker(optionsSchema, {
  instead: (value) => {
    if (typeof value === "string") return `a database is kept by new LibsqlDataStore({ url: ${shown(value)} })`;
    return !isPlain(value) && typeof value === "object" && value !== null && "serialize" in value
      ? "pass it as { serializer }"
      : null;
  },
  elsewhere: (name) =>
    /^(url|path|file|reset|retry|tablePrefix|durability)$/i.test(name)
      ? "a store in a database has it: new LibsqlDataStore({ url }, options)"
      : null,
});
