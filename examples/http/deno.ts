// The router alone, on Deno.
//
//     deno run --unstable-no-legacy-abort --allow-env=DATABASE_URL,SCHEDULER_TOKEN,PORT --allow-net=127.0.0.1 \
//       examples/http/deno.ts
//
// Without the first flag Deno aborts the signal of each request when the request has been answered, too, and warns of
// that at the first request whose signal the router reads. The warning is harmless, because the router heeds the
// signal only while it answers.
import { makeRouter, run } from "./scheduler.ts";

const port = Number(Deno.env.get("PORT") ?? 3000);
const server = Deno.serve({ hostname: "127.0.0.1", port }, makeRouter().fetch);
await run();
await server.shutdown();
