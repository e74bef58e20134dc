import { answers } from "./bundled.js";

globalThis.answer = await answers();
