import type * as v from "valibot";
import { hasMethods, implementing } from "../core/check.ts";
import { once } from "../core/once.ts";
import type { Serializer } from "./serializer.ts";

/** The schema of the option `serializer` of stores. */
export const serializerOption: () => v.GenericSchema<Serializer> = once(() =>
  implementing<Serializer>("a Serializer", ["serialize", "deserialize"], (value) => {
    if (value === JSON) return "leave it out, because JSON is the default";
    return hasMethods(value, ["stringify", "parse"]) ? "write new DevalueSerializer(devalue)" : null;
  }),
);
