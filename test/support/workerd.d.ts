// What the tests use of workerd's modules, beside what the library uses. Their own declarations need a package of types
// that nothing else needs.

declare module "cloudflare:workers" {
  export const env: WorkerdTestEnv;
}

declare module "cloudflare:test" {
  /** Runs a function within a Durable Object. */
  export function runInDurableObject<T>(
    stub: WorkerdTestStub,
    run: (instance: object, state: WorkerdTestState) => T | Promise<T>,
  ): Promise<T>;
}
