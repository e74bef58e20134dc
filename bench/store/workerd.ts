import { bundleWorker } from "../../test/edge/bundle-worker.ts";
import { type ContestantFacts, load } from "./contestant.ts";
import { CONFIGURATION } from "./escapement-queue.ts";
import type { Measurement } from "./measurement.ts";

/** A contestant that lives in workerd, and is measured there. */
export interface WorkerdContestant extends ContestantFacts {
  measure(address: string, label: string): Promise<Measurement>;
}

interface Workerd {
  dispatchFetch(url: string): Promise<Response>;
  dispose(): Promise<void>;
}

export const WORKERD: readonly WorkerdContestant[] = [
  contestant("Escapement D1, workerd", "d1", "D1 as miniflare has it, in the same process, without a network"),
  contestant("Escapement Durable Object, workerd", "object", "calls do not wait for the disk, an object's answers do"),
];

function contestant(name: string, path: string, note: string): WorkerdContestant {
  return {
    name,
    runtime: "workerd",
    server: null,
    keeps: "either",
    configuration: `${CONFIGURATION}; ticks; ${note}`,
    packages: ["miniflare", "workerd"],
    measure: (folder, label) => measureInWorkerd(path, folder, label),
  };
}

async function measureInWorkerd(path: string, folder: string, label: string): Promise<Measurement> {
  const { Miniflare } = await load<{ Miniflare: new (options: object) => Workerd }>(import.meta.resolve("miniflare"));
  // From the bundle, which lies in bench/node_modules/.cache.
  const modules = await bundleWorker(new URL("../../store/worker.ts", import.meta.url));
  const workerd = new Miniflare({
    ...modules,
    d1Databases: ["DATABASE"],
    d1Persist: folder,
    durableObjects: { OBJECT: { className: "MeasuredObject", useSQLite: true } },
    durableObjectsPersist: folder,
  });
  try {
    const response = await workerd.dispatchFetch(`http://worker/${path}/${label}`);
    if (!response.ok) throw new Error(`${path} answered: ${await response.text()}`);
    return (await response.json()) as Measurement;
  } finally {
    await workerd.dispose();
  }
}
