import { DeserializationError, SerializationError } from "../core/errors.ts";
import type { Serializer } from "./serializer.ts";

/** The two functions of the package `devalue` that {@link DevalueSerializer} is made of. */
export interface DevalueFunctions {
  stringify(value: unknown, reducers?: Record<string, (value: unknown) => unknown>): string;
  parse(text: string, revivers?: Record<string, (value: never) => unknown>): unknown;
}

/** Options of a {@link DevalueSerializer}: functions for types of the caller's own, by a name for each type. */
export interface DevalueOptions {
  /** Each returns what a value of its type is made of, or anything falsy for a value of another type. */
  reducers?: Record<string, (value: unknown) => unknown>;
  /** Each makes a value of its type again. Keep every name that `reducers` ever had while stored text may use the
   *  name. */
  revivers?: Record<string, (value: never) => unknown>;
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

  constructor(devalue: DevalueFunctions, options: DevalueOptions = {}) {
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
      throw new SerializationError(`the value at ${place} cannot be serialized: ${messageOf(cause)}`, { cause });
    }
  }

  deserialize(text: string): unknown {
    try {
      return this.#devalue.parse(text, this.#options.revivers);
    } catch (cause) {
      throw new DeserializationError(`the stored text was not written by devalue: ${messageOf(cause)}`, { cause });
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
