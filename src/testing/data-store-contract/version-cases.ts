import { equal } from "./assert.ts";
import { type DataStoreCase, openTwo } from "./contract-case.ts";
import { look, makeJob, makeTask } from "./makers.ts";

export const versionCases: readonly DataStoreCase[] = [
  {
    name: "versions: each change by another store on the data changes the version, and nothing else does",
    rules: ["G17"],
    async run(context) {
      const [store, other] = await openTwo(context);
      // Both have made whatever they make at their first call.
      await other.putTasks([makeTask()]);
      await store.getTasks();
      const version = async (): Promise<number | null> => (await store.getDataVersion?.()) ?? null;
      const first = await version();
      // A store that cannot tell, or that cannot have others beside it, keeps the rest in every case.
      if (first === null || other === store) return;
      equal(await version(), first, "while nobody writes");
      await store.addJobs([makeJob({ id: "ours" })]);
      await look(other);
      equal(await version(), first, "after a write of the store itself, and a read of the other");
      const seen = [first];
      for (const id of ["a", "b", "c"]) {
        await other.addJobs([makeJob({ id })]);
        seen.push((await version()) ?? first);
        equal(await version(), seen.at(-1), "asked again");
      }
      equal(new Set(seen).size, seen.length, "how many versions there were");
    },
  },
];
