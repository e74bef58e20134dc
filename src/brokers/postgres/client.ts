/** What the broker needs of a client of postgres.js: the function `sql` that `postgres(url)` returns. */
export interface PostgresClient {
  /** The options that the client was made with, as postgres.js has read them. The broker listens over a connection of
   *  its own, which it makes with them. */
  readonly options: object;
  unsafe(query: string, parameters?: string[], options?: { prepare?: boolean }): PromiseLike<unknown>;
}

export function isPostgresClient(value: unknown): value is PostgresClient {
  if (typeof value !== "function") return false;
  const { unsafe, options } = value as unknown as { readonly [K in keyof PostgresClient]: unknown };
  return typeof unsafe === "function" && typeof options === "object" && options !== null;
}
