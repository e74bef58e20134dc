import * as v from "valibot";
import { anything, type Checker, checker, hasMethods, recordOf, says } from "../core/check.ts";
import { DeserializationError, SerializationError } from "../core/errors.ts";
import { optionError, takes } from "../core/option-errors.ts";
import type { Serializer } from "./serializer.ts";

/** The two functions of the package `devalue` that {@link DevalueSerializer} is made of. */
export interface DevalueFunctions {
  stringify(value: unknown, reducers?: Record<string, (value: unknown) => unknown>): string;
  parse(text: string, revivers?: Record<string, (value: never) => unknown>): unknown;
}

/** Options of a {@link DevalueSerializer}: functions for types of the caller's own, by a name for each type. */
export interface DevalueOptions {
  /** Each returns what a value of its type is made of, or anything falsy for a value of another type. Default: none. */
  reducers?: Record<string, (value: unknown) => unknown> | undefined;
  /** Each makes a value of its type again. Keep every name that `reducers` ever had while stored text may use the
   *  name. Default: none. */
  revivers?: Record<string, (value: never) => unknown> | undefined;
}

/**
 * Carries what JSON cannot carry: dates, maps, sets, bigints, `undefined`, `NaN`, Temporal objects, typed arrays,
 * repeated and cyclic references, and types of the caller's own. The caller passes the functions of the package
 * `devalue`, so that only programs that use this class install the package. Schedulers that share a store need the same
 * serializer.
 *
 * @example
 * import * as devalue from "devalue";
 * const dataStore = new MemoryDataStore({ serializer: new DevalueSerializer(devalue) });
 */
export class DevalueSerializer implements Serializer {
  readonly #devalue: DevalueFunctions;
  readonly #options: DevalueOptions;

  /** @throws {OptionsError} when these are not the functions of `devalue`, or an option is unknown or no function */
  constructor(devalue: DevalueFunctions, options: DevalueOptions = {}) {
    if (!hasMethods(devalue, ["stringify", "parse"])) {
      throw optionError(WHERE, "", takes("the package devalue", devalue, 'write import * as devalue from "devalue"'));
    }
    checkOptions(options, WHERE);
    this.#devalue = devalue;
    this.#options = options;
  }

  serialize(value: unknown): string {
    try {
      return this.#devalue.stringify(value, this.#options.reducers);
    } catch (cause) {
      // devalue's errors have the path to the value, for example `.a[0].b`.
      const path = cause instanceof Error && "path" in cause && typeof cause.path === "string" ? cause.path : "";
      const place = path === "" ? "the top level" : path.replace(/^\./, "");
      const refused = cause instanceof Error && "value" in cause ? cause.value : undefined;
      const advice =
        typeof refused === "object" && refused !== null
          ? `; it is of class ${refused.constructor?.name}: pass its data, or give the DevalueSerializer reducers ` +
            "and revivers for the class"
          : "";
      throw new SerializationError(`the value at ${place} cannot be serialized: ${messageOf(cause)}${advice}`, {
        cause,
      });
    }
  }

  deserialize(text: string): unknown {
    try {
      return this.#devalue.parse(text, this.#options.revivers);
    } catch (cause) {
      const isTemporal = cause instanceof ReferenceError && cause.message.includes("Temporal");
      const problem = isTemporal
        ? 'the stored text has a Temporal object, and this runtime has no Temporal: import "temporal-polyfill/global"'
        : `the stored text was not written by devalue: ${messageOf(cause)}`;
      throw new DeserializationError(problem, { cause });
    }
  }
}

const WHERE = "new DevalueSerializer()";

const checkOptions: Checker<unknown> = checker(
  () => {
    const byName = v.optional(recordOf(anything, v.function(says("a function")), says("an object of functions")));
    return v.strictObject({ reducers: byName, revivers: byName });
  },
  { synonyms: { reducer: "reducers", reviver: "revivers" } },
);

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
