// node-schedule brings no types; what the bench uses of it.
declare module "node-schedule" {
  interface ScheduledJob {
    cancel(): boolean;
  }
  const nodeSchedule: {
    scheduleJob(rule: string | Date, callback: (fireDate: Date) => void): ScheduledJob | null;
  };
  export default nodeSchedule;
}
