// What a program exports without writing its type: the compiler writes it into a declaration file, and so must be able
// to name it by the doors of the package. Checked against the packed tarball, never run.
import {
  type Explanation,
  type Job,
  type JobContext,
  type JobResult,
  type Occurrence,
  type Schedule,
  type ScheduleChange,
  Scheduler,
  type SchedulerEvent,
  type SchedulerHealth,
  type Task,
  type TaskView,
  type Trigger,
} from "escapement";

export const scheduler = new Scheduler();
export const tick = () => scheduler.tick();
export const health = () => scheduler.health();
export const tasks = () => scheduler.getTasks();
export const subscribe = () => scheduler.subscribe(["jobAdded", "jobReleased"], () => {});
export const events = () => scheduler.events(["jobReleased"]);
export const nextEvent = () => scheduler.nextEvent("jobReleased");
export const preview = (schedule: Schedule) => schedule.preview({ limit: 1 });
export const client = (context: JobContext) => ({ scheduler: context.scheduler, logger: context.logger });

export const greet = scheduler.task("greet", (name: string) => `Hello, ${name}`);
export const addJob = () => scheduler.addJob(greet, { payload: "Ada" });
export const addJobs = () => scheduler.addJobs([{ task: greet, payload: "Ada" }, { task: "other" }]);
export const addBatch = (last: Task<number, Date>) => {
  // biome-ignore lint/suspicious/noThenProperty: that is how the option is called
  return scheduler.addBatch([{ task: greet, payload: "Ada" }], { then: { task: last, payload: 1 } });
};
export const runJob = () => scheduler.runJob(greet, { payload: "Ada" });
export const addSchedule = (trigger: Trigger) => scheduler.addSchedule(greet, trigger, { payload: "Ada" });
export const schedule = () => scheduler.schedule("report", "@daily", () => 1);

export const getJobs = () => scheduler.getJobs();
export const getJobResults = () => scheduler.getJobResults();
export const getSchedules = async () => (await scheduler.getSchedules()).items;
export const getOccurrences = () => scheduler.getOccurrences("report");
export const getScheduleChanges = () => scheduler.getScheduleChanges("report");
export const explain = () => scheduler.explain("report", "2030-01-01T09:00:00Z");
export const printSchedules = () => scheduler.printSchedules();

export const ofJob = (job: Job) => [job.attemptHistory, job.metadata, job.onParentFailure, job.toRow()] as const;
export const ofResult = (result: JobResult) => [result.outcome, result.attemptHistory[0], result.error] as const;
export const ofSchedule = (given: Schedule) => [given.trigger, given.catchUp, given.overlap, given.coalesce] as const;
export const ofTask = (task: TaskView) => [task.rateLimit, task.retry, task.retry.backoff] as const;
export const ofOccurrence = (occurrence: Occurrence) => [occurrence.run, occurrence.verdict] as const;
export const ofChange = (change: ScheduleChange) => [change.kind, change.before, change.after] as const;
export const ofEvent = (event: SchedulerEvent<"jobReleased">) => [event.outcome, event] as const;
export const ofTrigger = (trigger: Trigger) => [trigger.toJSON(), trigger.next(), trigger.fireTimes()] as const;
export const ofExplanation = ({ cause, clockChanges, verdict, occurrence }: Explanation) => ({
  cause,
  change: clockChanges[0],
  verdict,
  occurrence,
});
export const ofHealth = (health: SchedulerHealth) => ({
  job: health.oldestDueJob,
  schedule: health.oldestDueSchedule,
  tasks: health.backlog,
  paused: health.pausedTasks,
  schedulers: health.schedulers,
  backlogged: health.backloggedSchedules,
  overdue: health.overdueOccurrences,
  error: health.storeError,
});
