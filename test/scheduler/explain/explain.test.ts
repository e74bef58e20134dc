import { MemoryDataStore } from "../../../src/mod.ts";
import { describeTable } from "./table.ts";

describeTable("MemoryDataStore", (options) => new MemoryDataStore(options));
