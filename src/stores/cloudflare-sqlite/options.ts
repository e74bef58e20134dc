import * as v from "valibot";
import { hasMethods, says } from "../../core/check.ts";
import type { OptionsError } from "../../core/errors.ts";
import { once } from "../../core/once.ts";
import { optionError, takes } from "../../core/option-errors.ts";
import { sharedEntries } from "../sql/store-options.ts";

/** The schemas of the options that both stores have. */
export const cloudflareEntries: typeof sharedEntries = once(() => ({
  ...sharedEntries(),
  tablePrefix: v.optional(
    v.pipe(
      sharedEntries().tablePrefix.wrapped,
      v.check(
        (prefix) => !/^_cf_/i.test(prefix),
        says("another prefix, because tables whose names begin with _cf_ are Cloudflare's own"),
      ),
    ),
    "escapement_",
  ),
}));

/** The error of a first argument that is something else. */
export function wrongArgument(where: string, what: string, value: unknown, advice: string | null): OptionsError {
  const known = isStub(value) ? "it is a stub, which calls another Worker or object" : advice;
  return optionError(where, "", takes(what, value, known));
}

/** Whether a value is a stub for calls into another Worker or object. Such a stub has a method of every name. */
function isStub(value: unknown): boolean {
  return hasMethods(value, ["aMethodThatNothingHas"]);
}
