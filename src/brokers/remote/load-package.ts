import { BrokerUnavailableError } from "./errors.ts";

/** What a client's package exports. It is loaded when a broker is opened, because it is an optional peer.
 *  @param server name of the server, for the message
 *  @param load imports the package: a bundler has to find the import with the name in it
 *  @throws {BrokerUnavailableError} when the package is missing, or cannot be loaded */
export async function loadPackage<T>(name: string, server: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    // Otherwise the package is there, and lacks a part that it needs.
    const isMissing = ['"', "'", "`"].some((quote) => String(cause).includes(quote + name + quote));
    const advice = `npm install ${name}, or pass { client }`;
    const message = isMissing
      ? `reaching ${server} by its url needs the package ${name}, which is missing: ${advice}`
      : `loading ${name} failed: ${String(cause)}`;
    throw new BrokerUnavailableError(message, { cause });
  }
}
