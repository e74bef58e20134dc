import type { NewJobRecord } from "../../src/records/job.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import type { SimulationOptions } from "./simulate.ts";

/** A fault of our own, put into the store or between a scheduler and its store. */
export interface Mutant {
  /** What is wrong with it. */
  readonly name: string;
  readonly options?: Pick<SimulationOptions, "makeStore" | "wrapStore">;
  /** Puts the fault into a prototype, and returns what takes it out again. */
  readonly patch?: () => () => void;
}

type StoreClass = new () => MemoryDataStore;
export type Commit = contract.CommitRequest;
export type CommitResult = contract.CommitReport;

export function store(name: string, Broken: StoreClass): Mutant {
  return { name: `the store ${name}`, options: { makeStore: () => new Broken() } };
}

/** A scheduler that uses its store in a wrong way. Every process gets an object of its own. */
export function scheduler(name: string, changes: (store: contract.DataStore) => Partial<contract.DataStore>): Mutant {
  const wrapStore = (inner: contract.DataStore): contract.DataStore => {
    const broken = changes(inner);
    return new Proxy(inner, {
      get(target, key) {
        const changed: unknown = Reflect.get(broken, key);
        if (changed !== undefined) return changed;
        const value: unknown = Reflect.get(target, key);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  return { name: `the scheduler ${name}`, options: { wrapStore } };
}

export function patched<T extends object, K extends keyof T>(
  name: string,
  prototype: T,
  key: K,
  make: (original: T[K]) => T[K],
): Mutant {
  return {
    name: `the scheduler ${name}`,
    patch: () => {
      const original = prototype[key];
      prototype[key] = make(original);
      return () => {
        prototype[key] = original;
      };
    },
  };
}

/** A store that changes what comes to it: a commit, and the jobs that are added, in a commit or without. */
export function changing(changes: {
  commit?: (request: Commit, store: MemoryDataStore) => Commit | Promise<Commit>;
  job?: (job: NewJobRecord) => NewJobRecord;
}): StoreClass {
  const { commit = (request: Commit) => request, job = (record: NewJobRecord) => record } = changes;
  return class extends MemoryDataStore {
    override async commit(request: Commit): Promise<CommitResult> {
      const changed = await commit(request, this);
      return super.commit({ ...changed, additions: changed.additions.map(job) });
    }
    override addJobs(jobs: readonly NewJobRecord[]): Promise<contract.JobAddition[]> {
      return super.addJobs(jobs.map(job));
    }
  };
}

/** A store that changes its answer to commits. */
export function answering(
  change: (report: CommitResult, request: Commit, store: MemoryDataStore) => CommitResult | Promise<CommitResult>,
) {
  return class extends MemoryDataStore {
    override async commit(request: Commit): Promise<CommitResult> {
      return change(await super.commit(request), request, this);
    }
  };
}

/** A store that changes what keeps leases. */
export function extending(change: (extension: contract.LeaseExtension) => contract.LeaseExtension): StoreClass {
  return class extends MemoryDataStore {
    override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
      return super.extendLeases(change(extension));
    }
  };
}
