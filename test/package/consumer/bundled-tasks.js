import { currentJob, defineTasks } from "escapement";

export const tasks = defineTasks({
  shout: { handler: ({ name }) => `${name.toUpperCase()} in ${currentJob()?.job.metadata.of}` },
});
