/** What npm writes into `package-lock.json`, as far as it is read here. */
export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Dependencies without an entry of their own, as "folder needs name". `npm ci` refuses a lockfile that lacks one, an
 * optional one of another platform too; `npm install` leaves out those that the registry does not have.
 */
export function missingPackages({ packages }: Lockfile): string[] {
  return Object.entries(packages).flatMap(([folder, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !foldersAbove(folder).some((above) => `${above}node_modules/${name}` in packages))
      .map((name) => `${folder || "the project"} needs ${name}`),
  );
}

/** Folders in whose `node_modules` a package finds others: its own, those around it, and the project's. */
function foldersAbove(folder: string): string[] {
  if (folder === "") return [""];
  return [`${folder}/`, ...foldersAbove(folder.slice(0, folder.lastIndexOf("node_modules/")).replace(/\/$/, ""))];
}
