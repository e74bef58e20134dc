import { answers } from "./bundled.js";

console.log(JSON.stringify(await answers()));
