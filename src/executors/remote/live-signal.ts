/** The signal of an attempt in a worker. Its `aborted` is true as soon as the reason is known, even in a loop that lets
 *  no message in: whoever reads it there, and whoever calls `throwIfAborted`, looks at the reason first. */
export function liveSignal(controller: AbortController, reason: () => Error | null): AbortSignal {
  const { signal } = controller;
  const { get } = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted") ?? {};
  const isAborted = (): boolean => get?.call(signal) === true;
  const look = (): boolean => {
    if (isAborted()) return true;
    const why = reason();
    if (why !== null) controller.abort(why);
    return why !== null;
  };
  Object.defineProperty(signal, "aborted", { get: look, configurable: true });
  Object.defineProperty(signal, "throwIfAborted", {
    value(): void {
      if (look()) throw signal.reason;
    },
    configurable: true,
  });
  return signal;
}
