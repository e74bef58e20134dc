import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import {
  giveFolder,
  plainUser,
  runTool,
  type ServerCommand,
  type ServerUser,
  serverBinary,
  TestServer,
  versionFolders,
} from "./server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";

const PASSWORD = "a secret of the tests";
// Debian keeps the programs of each version in a folder that no search path has.
const FOLDERS = versionFolders("/usr/lib/postgresql", "bin");

/** A real PostgreSQL server on loopback and on a unix socket, with a database of its own in a temporary folder. */
export class PostgresServer extends TestServer {
  readonly port: number;
  /** Folder of its unix socket. */
  readonly socketFolder: string;

  private constructor(port: number, folder: TemporaryFolder, settings: readonly string[]) {
    // A crash of the server loses nothing without syncs: only a crash of the machine would.
    const fast = ["fsync=off", "synchronous_commit=off", "autovacuum=off", "max_connections=200"];
    const places = ["listen_addresses=127.0.0.1", `port=${port}`, `unix_socket_directories=${folder.path}`];
    const command: ServerCommand = {
      name: "postgres",
      command: serverBinary("postgres", "postgresql", FOLDERS),
      args: ["-D", join(folder.path, "data"), ...[...fast, ...places, ...settings].flatMap((set) => ["-c", set])],
      ready: /ready to accept (read-only )?connections/,
      // After SIGKILL its processes would live on for a moment, and keep the server from being started again.
      crash: "SIGQUIT",
      user: plainUser("postgres", "nobody"),
    };
    super(command, folder);
    this.port = port;
    this.socketFolder = folder.path;
  }

  /**
   * @param options.settings more settings, such as `["idle_session_timeout=1s"]`
   * @param options.tls whether it also takes TLS connections, with a certificate for 127.0.0.1. Default: false
   */
  static async start(
    options: { readonly settings?: readonly string[]; readonly tls?: boolean } = {},
  ): Promise<PostgresServer> {
    const initdb = serverBinary("initdb", "postgresql", FOLDERS);
    const user = plainUser("postgres", "nobody");
    const folder = await temporaryFolder();
    const passwordFile = join(folder.path, "password");
    await writeFile(passwordFile, PASSWORD);
    await giveFolder(folder.path, user);
    await giveFolder(passwordFile, user);
    const auth = ["--auth=scram-sha-256", "--pwfile", passwordFile, "-U", "postgres"];
    const kind = ["--no-sync", "--no-instructions", "--locale=C", "--encoding=UTF8"];
    runTool(user, initdb, "-D", join(folder.path, "data"), ...auth, ...kind);
    const tls = options.tls === true ? makeCertificate(folder.path, user) : [];
    const server = new PostgresServer(await freePort(), folder, [...tls, ...(options.settings ?? [])]);
    await server.resume();
    return server;
  }

  /** A standby of this server, with a copy of its data, which follows it. */
  async startStandby(...settings: readonly string[]): Promise<PostgresServer> {
    const user = plainUser("postgres", "nobody");
    const folder = await temporaryFolder();
    await giveFolder(folder.path, user);
    const copy = ["-D", join(folder.path, "data"), "-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", this.url];
    runTool(user, serverBinary("pg_basebackup", "postgresql", FOLDERS), ...copy);
    const standby = new PostgresServer(await freePort(), folder, settings);
    await standby.resume();
    return standby;
  }

  /** Lets the server write to a folder. */
  async giveFolder(path: string): Promise<void> {
    await giveFolder(path, plainUser("postgres", "nobody"));
  }

  /** Its address, with the password. */
  get url(): string {
    return this.urlWith(PASSWORD);
  }

  urlWith(password: string): string {
    return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${this.port}/postgres`;
  }

  /** The certificate that it has with `tls`, as PEM text. */
  certificate(): Promise<string> {
    return readFile(join(this.folder, "server.crt"), "utf8");
  }

  /** Its address behind a proxy. */
  urlAt(port: number): string {
    return this.url.replace(`:${this.port}/`, `:${port}/`);
  }
}

/** Makes a certificate that signs itself. Returns the settings that name it. */
function makeCertificate(folder: string, user: ServerUser | null): readonly string[] {
  const [key, certificate] = [join(folder, "server.key"), join(folder, "server.crt")];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=escapement", "-addext", "subjectAltName=IP:127.0.0.1"];
  runTool(user, serverBinary("openssl", "openssl"), "req", ...kind, ...names, "-keyout", key, "-out", certificate);
  return ["ssl=on", `ssl_key_file=${key}`, `ssl_cert_file=${certificate}`];
}
