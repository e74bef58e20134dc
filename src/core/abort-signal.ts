/** The `AbortSignal` of the runtime's types. Where a program is compiled without any, neither `dom` nor those of a
 *  runtime, it is what every such signal has. */
export type AbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } } ? Signal : SignalAlone;

interface SignalAlone {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
