/** The signal of an attempt in a worker. Its `aborted` is true as soon as the reason is known, even in a loop that lets
 *  no message in: whoever reads it there, and whoever calls `throwIfAborted`, looks at the reason first. */
export function liveSignal(controller: AbortController, reason: () => Error | null): AbortSignal {
  const { signal } = controller;
  const { get } = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted") ?? {};
  let isLooking = false;
  const look = (): boolean => {
    const isAborted = get?.call(signal) === true;
    // Runtimes ask for `aborted` while they abort.
    if (isAborted || isLooking) return isAborted;
    isLooking = true;
    const why = reason();
    if (why !== null) controller.abort(why);
    isLooking = false;
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
