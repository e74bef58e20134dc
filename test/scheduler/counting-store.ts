import type { CommitReport, CommitRequest, LookReport, LookRequest } from "../../src/contracts.ts";
import { MemoryDataStore } from "../../src/mod.ts";

/** A store that counts looks and commits. */
export class LookCountingStore extends MemoryDataStore {
  calls = 0;
  /** Called before each commit. */
  onStep: (request: CommitRequest) => void = () => {};

  override look(request: LookRequest): Promise<LookReport> {
    this.calls++;
    return super.look(request);
  }

  override commit(request: CommitRequest): Promise<CommitReport> {
    this.calls++;
    this.onStep(request);
    return super.commit(request);
  }
}
