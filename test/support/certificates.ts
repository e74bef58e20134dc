import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool, serverBinary } from "./server-process.ts";

/** A certificate of a server on this machine, and the authority that signed it, which nobody else knows. */
export interface Certificates {
  readonly certFile: string;
  readonly keyFile: string;
  /** The authority's certificate, as PEM text. */
  readonly ca: string;
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Makes certificates in a folder. */
export async function makeCertificates(folder: string): Promise<Certificates> {
  const openssl = serverBinary("openssl", "openssl");
  const file = (name: string): string => join(folder, name);
  const [caKey, ca] = [file("ca.key"), file("ca.pem")] as const;
  const [key, cert, request] = [file("key.pem"), file("cert.pem"), file("request.pem")] as const;
  const names = file("names");
  await writeFile(names, "subjectAltName = DNS:localhost, IP:127.0.0.1\n");
  const authority = ["-x509", "-days", "2", "-subj", "/CN=authority"];
  runTool(null, openssl, "req", ...authority, ...NEW_KEY, "-keyout", caKey, "-out", ca);
  runTool(null, openssl, "req", ...NEW_KEY, "-keyout", key, "-out", request, "-subj", "/CN=localhost");
  const signing = ["-CA", ca, "-CAkey", caKey, "-CAcreateserial", "-days", "2", "-extfile", names];
  runTool(null, openssl, "x509", "-req", "-in", request, ...signing, "-out", cert);
  return { certFile: cert, keyFile: key, ca: await readFile(ca, "utf8") };
}
