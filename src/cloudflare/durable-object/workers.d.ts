// What the library uses of the module of workerd. Cloudflare's own declarations need a package of types, which only
// users of Durable Objects have.

declare module "cloudflare:workers" {
  /** Base of the classes of Durable Objects. */
  export abstract class DurableObject<Env = unknown> {
    constructor(ctx: object, env: Env);
    protected readonly ctx: object;
    protected readonly env: Env;
  }
}
