import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import type { PostgresServer } from "./postgres-server.ts";
import { giveFolder, plainUser, serverBinary, TestServer } from "./server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";

/** A real PgBouncer on loopback in front of a PostgreSQL server. */
export class PgBouncer extends TestServer {
  readonly port: number;
  readonly #target: PostgresServer;

  private constructor(port: number, target: PostgresServer, folder: TemporaryFolder) {
    const command = {
      name: "pgbouncer",
      command: serverBinary("pgbouncer", "pgbouncer"),
      args: [join(folder.path, "pgbouncer.ini")],
      ready: /process up/,
      // It refuses to run as an administrator.
      user: plainUser("postgres", "nobody"),
    };
    super(command, folder);
    this.port = port;
    this.#target = target;
  }

  static async start(target: PostgresServer): Promise<PgBouncer> {
    const folder = await temporaryFolder();
    await giveFolder(folder.path, plainUser("postgres", "nobody"));
    const bouncer = new PgBouncer(await freePort(), target, folder);
    const { password } = new URL(target.url);
    const users = join(folder.path, "users.txt");
    const server = `host=127.0.0.1 port=${target.port} dbname=postgres`;
    await writeFile(users, `"postgres" "${decodeURIComponent(password)}"\n`);
    const lines = [
      "[databases]",
      ...["transaction", "session"].map((mode) => `${mode} = ${server} pool_mode=${mode}`),
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${bouncer.port}`,
      "unix_socket_dir =",
      "auth_type = scram-sha-256",
      `auth_file = ${users}`,
    ];
    await writeFile(join(folder.path, "pgbouncer.ini"), `${lines.join("\n")}\n`);
    await bouncer.resume();
    return bouncer;
  }

  /** Its address of a pool that lends its connections for sessions or for transactions. */
  urlOf(mode: "session" | "transaction"): string {
    return this.#target.urlAt(this.port).replace(/\/postgres$/, `/${mode}`);
  }
}
