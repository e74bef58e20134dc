// Runs an example on Node: `npm start` for examples/hello.ts, `npm start -- NAME` for another one.
import process from "node:process";
import { bundleImport } from "./lib/bundle-import.mjs";

const isNamed = process.argv[2] !== undefined && !process.argv[2].startsWith("-");
const name = isNamed ? process.argv.splice(2, 1)[0] : "hello";
await bundleImport(`examples/${name}.ts`);
