/** What a scheduler logs to. `console` satisfies it, and so do pino, winston and the like. */
export interface Logger {
  debug(message: string, ...details: unknown[]): void;
  info(message: string, ...details: unknown[]): void;
  warn(message: string, ...details: unknown[]): void;
  error(message: string, ...details: unknown[]): void;
}

const ignore = (): void => {};

/** Wraps a logger so that one that throws, or returns a promise that rejects, disturbs nobody. */
export function guardedLogger(logger: Logger): Logger {
  const guard =
    (level: keyof Logger) =>
    (message: string, ...details: unknown[]): void => {
      try {
        const answer: unknown = logger[level](message, ...details);
        if (isThenable(answer)) answer.then(ignore, ignore);
      } catch {
        // There is nowhere left to report this to.
      }
    };
  return { debug: guard("debug"), info: guard("info"), warn: guard("warn"), error: guard("error") };
}

/** Whether a value is a promise, of this realm or another, or behaves like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
