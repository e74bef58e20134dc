import type { LookReport, LookRequest, StepReport, StepRequest } from "../../src/contracts.ts";
import { MemoryDataStore } from "../../src/mod.ts";

/** A store that counts looks and steps. */
export class LookCountingStore extends MemoryDataStore {
  calls = 0;
  /** Called before each step. */
  onStep: (request: StepRequest) => void = () => {};

  override look(request: LookRequest): Promise<LookReport> {
    this.calls++;
    return super.look(request);
  }

  override step(request: StepRequest): Promise<StepReport> {
    this.calls++;
    this.onStep(request);
    return super.step(request);
  }
}
