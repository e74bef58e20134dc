import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { runTool, serverBinary, TestServer } from "./server-process.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";

/** What a test may choose of a server. */
export interface MosquittoOptions {
  /** The one user that may connect. Default: everybody may */
  readonly username?: string;
  readonly password?: string;
  /** More lines of its configuration. */
  readonly lines?: readonly string[];
}

/** A real MQTT server on loopback, over TCP, web sockets and a unix socket, which keeps nothing on disk. */
export class Mosquitto extends TestServer {
  readonly port: number;
  readonly wsPort: number;
  /** Path of its unix socket. */
  readonly socket: string;

  private constructor(port: number, wsPort: number, folder: TemporaryFolder) {
    const command = {
      name: "mosquitto",
      command: serverBinary("mosquitto", "mosquitto"),
      args: ["-c", join(folder.path, "mosquitto.conf")],
      ready: /mosquitto version \S+ running/,
    };
    super(command, folder);
    this.port = port;
    this.wsPort = wsPort;
    this.socket = join(folder.path, "mqtt.sock");
  }

  static async start(options: MosquittoOptions = {}): Promise<Mosquitto> {
    const folder = await temporaryFolder();
    const server = new Mosquitto(await freePort(), await freePort(), folder);
    const users = join(folder.path, "users");
    const { username, password = "" } = options;
    if (username !== undefined) {
      runTool(null, serverBinary("mosquitto_passwd", "mosquitto"), "-b", "-c", users, username, password);
    }
    const config = [
      "user root",
      "persistence false",
      "log_dest stderr",
      username === undefined ? "allow_anonymous true" : `allow_anonymous false\npassword_file ${users}`,
      `listener ${server.port} 127.0.0.1`,
      `listener 0 ${server.socket}`,
      `listener ${server.wsPort} 127.0.0.1`,
      "protocol websockets",
      ...(options.lines ?? []),
    ];
    await writeFile(join(folder.path, "mosquitto.conf"), `${config.join("\n")}\n`);
    await server.resume();
    return server;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.port}`;
  }

  get wsUrl(): string {
    return `ws://127.0.0.1:${this.wsPort}`;
  }
}
