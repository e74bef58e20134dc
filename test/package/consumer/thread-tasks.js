import { currentJob, defineTasks } from "escapement";

export const tasks = defineTasks({
  add: { handler: ({ a, b }) => a + b },
  knowsItsJob: { handler: (_payload, context) => currentJob() === context },
  spin: {
    handler: () => {
      for (;;);
    },
  },
});
