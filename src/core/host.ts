// What the library asks of the runtime it runs in: the only place below the drivers that names a host's globals.
// Every answer has a value for runtimes that cannot tell, such as browsers and Workers.

/** The parts of `process` that Node, Deno, Bun and Workers with `nodejs_compat` share. */
interface HostProcess {
  readonly pid?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?(id: string): unknown;
  on?(signal: HostSignal, listener: () => void): unknown;
  off?(signal: HostSignal, listener: () => void): unknown;
}

/** A signal that asks a process to end: Ctrl-C, and what service managers send. */
export type HostSignal = "SIGINT" | "SIGTERM";

function hostProcess(): HostProcess | undefined {
  return (globalThis as { readonly process?: HostProcess }).process;
}

/** A module of the runtime itself, such as `node:async_hooks`; undefined where there is none. It is asked for rather
 *  than imported, because an import would keep this library from loading where the module is missing. */
export function builtinModule(id: string): unknown {
  try {
    return hostProcess()?.getBuiltinModule?.(id);
  } catch {
    return undefined;
  }
}

/** The number of this process; null where there are no processes. */
export function processId(): number | null {
  return hostProcess()?.pid ?? null;
}

/** The name of this machine; null where the runtime does not tell, or has not been permitted to. */
export function hostName(): string | null {
  const os = builtinModule("node:os") as { hostname?(): string } | undefined;
  try {
    const name = os?.hostname?.();
    return name === undefined || name === "" ? null : name;
  } catch {
    return null;
  }
}

/** An environment variable; undefined when it is not set, or the runtime does not let this program read it. */
export function environmentVariable(name: string): string | undefined {
  try {
    return hostProcess()?.env?.[name];
  } catch {
    return undefined;
  }
}

/** Calls a listener at each of the signals, until the returned function is called. Where the runtime has no signals,
 *  nothing happens. While there is a listener, a signal no longer ends the process by itself. */
export function onSignal(signals: readonly HostSignal[], listener: (signal: HostSignal) => void): () => void {
  const host = hostProcess();
  const removals = signals.map((signal) => {
    const call = (): void => listener(signal);
    try {
      host?.on?.(signal, call);
    } catch {
      // A signal that the operating system does not have, such as SIGTERM for Deno on Windows.
    }
    return () => host?.off?.(signal, call);
  });
  return () => {
    for (const remove of removals.splice(0)) remove();
  };
}
