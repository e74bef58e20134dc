import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { serverBinary, TestServer } from "./server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";

/** A real nginx on loopback, in one process. */
export class Nginx extends TestServer {
  readonly url: string;

  private constructor(port: number, folder: TemporaryFolder) {
    const args = ["-p", folder.path, "-c", join(folder.path, "nginx.conf"), "-e", "stderr"];
    // It says so once it listens.
    super({ name: "nginx", command: serverBinary("nginx", "nginx-light"), args, ready: /getrlimit/ }, folder);
    this.url = `http://127.0.0.1:${port}`;
  }

  /** @param locations what stands within `server { }` */
  static async start(locations: string): Promise<Nginx> {
    const [port, folder] = [await freePort(), await temporaryFolder()];
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${join(folder.path, name)};`,
    );
    const http = ["access_log off;", ...paths, `server { listen 127.0.0.1:${port};`, locations, "}"].join("\n");
    const main = ["daemon off;", "master_process off;", `pid ${join(folder.path, "pid")};`, "error_log stderr notice;"];
    const text = [...main, "events { }", "http {", http, "}"].join("\n");
    await writeFile(join(folder.path, "nginx.conf"), text);
    const server = new Nginx(port, folder);
    await server.resume();
    return server;
  }
}
