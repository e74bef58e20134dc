/** What the broker needs of a client of postgres.js: the function `sql` that `postgres(url)` returns. The interface
 *  describes a shape, so that other clients of the same shape fit, too. */
export interface PostgresClient {
  unsafe(query: string, parameters?: string[], options?: { prepare?: boolean }): PromiseLike<unknown>;
  /** Listens on a connection of its own, and listens again after each loss of that connection. */
  listen(
    channel: string,
    onMessage: (message: string) => void,
    onListen?: () => void,
  ): Promise<{ unlisten(): Promise<unknown> }>;
}

export function isPostgresClient(value: unknown): value is PostgresClient {
  if (typeof value !== "function") return false;
  return ["unsafe", "listen"].every((method) => typeof Reflect.get(value, method) === "function");
}
