import { answers } from "./bundled.js";

export default {
  async fetch() {
    return Response.json(await answers());
  },
};
