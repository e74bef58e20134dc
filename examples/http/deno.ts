// The router alone, on Deno.
//
//     deno run --allow-env=DATABASE_URL,SCHEDULER_TOKEN,PORT --allow-net=127.0.0.1 examples/http/deno.ts
import { makeRouter, run } from "./scheduler.ts";

const port = Number(Deno.env.get("PORT") ?? 3000);
const server = Deno.serve({ hostname: "127.0.0.1", port }, makeRouter().fetch);
await run();
await server.shutdown();
