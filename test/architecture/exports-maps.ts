/** What the rule reads of package.json. */
export interface PackageManifest {
  readonly exports: Readonly<
    Record<string, string | { readonly types?: string; readonly workerd?: string; readonly default?: string }>
  >;
  readonly imports?: Readonly<Record<string, { readonly default?: string }>>;
}

/** What the rule reads of deno.json. */
export interface DenoManifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, string>>;
}

/** Where npm's and JSR's exports maps differ, one sentence each: both must offer the same subpaths of the same
 *  sources, and resolve `#` imports alike. */
export function compareExports(npm: PackageManifest, jsr: DenoManifest): string[] {
  const differences: string[] = [];
  const subpaths = new Set([...Object.keys(npm.exports), ...Object.keys(jsr.exports)]);
  subpaths.delete("./package.json");
  for (const subpath of subpaths) {
    const source = jsr.exports[subpath];
    const built = npm.exports[subpath];
    if (source === undefined) differences.push(`${subpath} is not in deno.json`);
    else if (built === undefined) differences.push(`${subpath} is not in package.json`);
    else if (typeof built === "string") differences.push(`${subpath} has no types in package.json`);
    else {
      const stem = source.replace(/^\.\/src\//, "./dist/").replace(/\.ts$/, "");
      if (built.default !== `${stem}.js`) differences.push(`${subpath} is ${built.default}, and not ${stem}.js`);
      // What workerd gets may show more: then everybody's types are those.
      const hasTypesOfWorkerd = built.types === built.workerd?.replace(/\.js$/, ".d.ts");
      if (built.types !== `${stem}.d.ts` && !hasTypesOfWorkerd)
        differences.push(`${subpath} has the types ${built.types}, not ${stem}.d.ts`);
    }
  }
  for (const [name, conditions] of Object.entries(npm.imports ?? {})) {
    // Built files alone import it.
    if (conditions.default?.startsWith("./dist/")) continue;
    const source = jsr.imports?.[name];
    if (source !== conditions.default) differences.push(`${name} is ${source} in deno.json, not ${conditions.default}`);
  }
  return differences;
}
