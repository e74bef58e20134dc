/** Lines that a worker of an executor logs for its handlers in a second, and most UTF-16 units of a line and of each
 *  detail of it. What is more is dropped, and counted. */
export const WORKER_LOG_LINES_PER_SECOND_MAX = 1000;
export const WORKER_LOG_LENGTH_MAX = 16_384;

/** Shortest time between two reports of progress that a worker of an executor sends for a job, in milliseconds. The
 *  last report is sent in any case. */
export const WORKER_PROGRESS_MS_MIN = 10;
