import type { DenoManifest, PackageManifest } from "./exports-maps.ts";

// Vite replaces `import.meta.glob` where a test is transformed, so that the files are at hand on workerd too, which has
// no file system. The cast stands in for Vite's ambient types, which would put `process` into every test's scope.
interface GlobImporter {
  glob(
    pattern: string | readonly string[],
    options: { query: "?raw"; import: "default"; eager: true },
  ): Record<string, string>;
}

const sources = (import.meta as unknown as GlobImporter).glob("../../src/**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});
// The contract suites that the package ships are tests too.
const tests = (import.meta as unknown as GlobImporter).glob(["../**/*.ts", "../../src/testing/**/*.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const assembly = (import.meta as unknown as GlobImporter).glob("../../wasm/assembly/*.ts", {
  query: "?raw",
  import: "default",
  eager: true,
});
const pages = (import.meta as unknown as GlobImporter).glob("../../docs/{architecture,store-contract}.md", {
  query: "?raw",
  import: "default",
  eager: true,
});
const manifests = (import.meta as unknown as GlobImporter).glob("../../{package,deno}.json", {
  query: "?raw",
  import: "default",
  eager: true,
});

export type SourceFile = readonly [path: string, text: string];

function filesOf(globbed: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(globbed).map(([path, text]) => [path.replace("../../", ""), text] as const);
}

/** Every source file: its path from the root, and its text. */
export const sourceFiles: readonly SourceFile[] = filesOf(sources);
/** Every file of the WebAssembly engine, likewise. */
export const assemblyFiles: readonly SourceFile[] = filesOf(assembly);
/** The page that the rules are written on. */
export const architecturePage: string = pages["../../docs/architecture.md"] ?? "";
/** The page with the rules that every data store keeps. */
export const storeContractPage: string = pages["../../docs/store-contract.md"] ?? "";

/** Every file of the tests, likewise. */
export const testFiles: readonly SourceFile[] = Object.entries(tests).map(
  ([path, text]) => [path.replace("../../", "").replace(/^\.\.?\//, "test/"), text] as const,
);

export const packageManifest: PackageManifest = JSON.parse(manifests["../../package.json"] ?? "null");
export const denoManifest: DenoManifest = JSON.parse(manifests["../../deno.json"] ?? "null");
