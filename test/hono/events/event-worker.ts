// A Worker whose streams live in its isolate, for event-worker.node.test.ts. `/events` is a stream, and the other paths
// let something happen, or say how many streams there are.
import { EventStreams } from "../../../src/hono/events/event-streams.ts";
import { LocalEventBroker, Scheduler } from "../../../src/mod.ts";
import { VirtualClock } from "../../../src/testing/virtual-clock.ts";

const eventBroker = new LocalEventBroker();
const clock = new VirtualClock();
const streams = new EventStreams({ clock });
// Workers make no scheduler before the first request.
let made: Scheduler | undefined;
let number = 0;

export default {
  async fetch(request: Request): Promise<Response> {
    made ??= new Scheduler({ eventBroker, clock });
    const [, verb, argument = ""] = new URL(request.url).pathname.split("/");
    switch (verb) {
      case "events":
        // Workers end a request that waits for nothing of its own. With a clock of the host, there is the next beat.
        setInterval(() => {}, 60_000);
        return streams.answer(made, request);
      case "size":
        return Response.json(streams.size);
      case "happen":
        for (let left = Number(argument); left > 0; left--) {
          const taskId = `t${++number}`;
          await eventBroker.publish([{ type: "taskRemoved", timestampMs: clock.now(), taskId }]);
        }
        return Response.json(number);
      case "advance":
        await clock.advance({ seconds: Number(argument) });
        return Response.json(clock.now());
      default:
        return new Response(null, { status: 404 });
    }
  },
};
