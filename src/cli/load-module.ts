import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { CliError, codeOf, messageOf } from "./failure.ts";

/**
 * Imports a module of the user's, TypeScript too: by the runtime itself, or by `jiti` where that cannot (Node 20).
 * @param version makes the runtime load the file anew
 * @throws {CliError} with what to do
 */
export async function loadModule(path: string, version = 0): Promise<unknown> {
  const { href } = pathToFileURL(path);
  try {
    return await import(version === 0 ? href : `${href}?v=${version}`);
  } catch (error) {
    if (codeOf(error) === "ERR_UNKNOWN_FILE_EXTENSION") return loadByJiti(path);
    throw new CliError(`${path} cannot be loaded: ${messageOf(error)}`, { code: "module" });
  }
}

async function loadByJiti(path: string): Promise<unknown> {
  let jiti: typeof import("jiti");
  try {
    // The project's own, because it is its dependency.
    jiti = await import(pathToFileURL(createRequire(path).resolve("jiti")).href);
  } catch {
    const lines = ["  npm install --save-dev jiti, or use Node 22.18 or later"];
    throw new CliError(`${path} is TypeScript, which this Node reads with jiti alone`, { code: "module", lines });
  }
  try {
    return await jiti.createJiti(path, { moduleCache: false }).import(path);
  } catch (error) {
    throw new CliError(`${path} cannot be loaded: ${messageOf(error)}`, { code: "module" });
  }
}
