import { TemporalMissingError } from "./errors.ts";

/**
 * What stands in the place of `temporal-polyfill` where a bundler was told so, to save its 19.5 KB: the Temporal of the
 * runtime, or an object of which every use throws.
 *
 * ```jsonc
 * // wrangler.jsonc
 * { "alias": { "temporal-polyfill": "escapement/no-temporal" } }
 * ```
 *
 * @module
 */
const host: { readonly Temporal?: object } = globalThis;

/** The Temporal of the runtime. Where it has none, reading any property throws a {@link TemporalMissingError}. */
export const Temporal: object =
  host.Temporal ??
  new Proxy(
    {},
    {
      get(_, name) {
        // Consoles and loaders ask for symbols.
        if (typeof name === "symbol") return undefined;
        throw new TemporalMissingError(
          `Temporal.${name} is needed here, and the import "temporal-polyfill" is missing: the bundler has ` +
            "escapement/no-temporal in its place, and this runtime has no Temporal. Take that alias away, or use " +
            "what needs no Temporal object, such as nextMs(), Date and short durations",
        );
      },
    },
  );
