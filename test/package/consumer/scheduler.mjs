import { IntervalTrigger, Scheduler } from "escapement";

const scheduler = new Scheduler({ logLevel: "warn" });
await scheduler.schedule("once", new IntervalTrigger({ hours: 1 }), () => console.log("it ran"));
export default scheduler;
