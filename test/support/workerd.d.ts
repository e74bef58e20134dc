// What the tests use of workerd's modules, beside what the library uses. Their own declarations need a package of types
// that nothing else needs.

declare module "cloudflare:workers" {
  import type { WorkerdEnv } from "./workerd-env.ts";

  export const env: WorkerdEnv;
}

declare module "cloudflare:test" {
  import type { ObjectState, ObjectStub } from "./workerd-env.ts";

  /** Runs a function within a Durable Object. */
  export function runInDurableObject<T>(
    stub: ObjectStub,
    run: (instance: object, state: ObjectState) => T | Promise<T>,
  ): Promise<T>;
}
