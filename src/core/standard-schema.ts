/** The part of Standard Schema (version 1) that Escapement uses. The schemas of valibot, zod, arktype and others have
 *  it.
 *
 *  @example
 *  const schema: StandardSchemaV1 = v.object({ name: v.string() }); // valibot
 *  scheduler.task("greet", { schema }, ({ name }) => `Hello, ${name}`);
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The path of an issue as text, for messages. For example, `customer.name`; empty for the value itself. */
export function pathText(path: StandardIssue["path"]): string {
  return (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
}
