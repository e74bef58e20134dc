import { DurableObject } from "cloudflare:workers";

// The Worker of vitest.workerd.config.ts. Tests run functions of their own within its objects.

/** An object whose storage is SQLite. */
export class SqlObject extends DurableObject {}

/** An object of the older kind, whose storage has no SQL. */
export class KeyValueObject extends DurableObject {}

export default {};
