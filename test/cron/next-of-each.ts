import { CompiledBatch, type CompiledCron } from "../../src/cron/compiled-cron.ts";

/** The next fire time of one spec after each of many instants, asked for in one batch; `NaN` where there is none. */
export function nextOfEach(cron: CompiledCron, afters: Float64Array): Float64Array {
  return new CompiledBatch(new Array<CompiledCron>(afters.length).fill(cron)).nextMs(afters);
}
