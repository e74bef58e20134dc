import { IntervalTrigger } from "../../src/mod.ts";

export * from "../../src/mod.ts";

export const everyTrigger: IntervalTrigger = new IntervalTrigger({ hours: 1 });
