import * as v from "valibot";
import { objectOf, says, textUpTo } from "../../core/check.ts";
import { once } from "../../core/once.ts";
import { mustBe } from "../../core/option-errors.ts";
import { isStorable, STORABLE, STORABLE_ADVICE } from "../../core/text.ts";
import { withoutUndefined } from "../../core/without-undefined.ts";
import { ID_LENGTH_MAX } from "../../records/limits.ts";

/** TLS settings of a connection that a broker makes. Node's `tls.connect` explains them. */
export interface BrokerTls {
  /** Certificates of the authorities that may sign the server's certificate, as PEM text. Default: those of the
   *  runtime. */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[] | undefined;
  /** This client's certificate, as PEM text. */
  readonly cert?: string | Uint8Array | undefined;
  /** The private key of this client's certificate, as PEM text. */
  readonly key?: string | Uint8Array | undefined;
  /** The passphrase of the private key. */
  readonly passphrase?: string | undefined;
  /** The name that the server's certificate must have. Default: the host of the address. */
  readonly servername?: string | undefined;
  /** Whether a server with a certificate that cannot be verified is refused. Default: true. */
  readonly rejectUnauthorized?: boolean | undefined;
}

const UNSET = "is the environment variable set?";

const saysText = ({ input }: { readonly input: unknown }): string =>
  mustBe("text that is not empty", input, "", input === undefined || input === "" ? UNSET : null);

const saysSecret = ({ input }: { readonly input: unknown }): string =>
  mustBe("text that is not empty", input, "secret", input === undefined || input === "" ? UNSET : null);

/** The problem of a url that cannot be read. It is not shown, because its password cannot be found. @internal */
export const saysReadable = ({ input }: { readonly input: unknown }): string =>
  mustBe("a url that can be read", input, "secret", "write encodeURIComponent(password) for the password in it");

/** The name by which a message shows what is no url: that of a secret where a password may stand in it. @internal */
export function nameOfWrongUrl(input: unknown): "secret" | "" {
  return typeof input === "string" && /[@?]/.test(input) ? "secret" : "";
}

/** Text that is not empty, such as a user's name. @internal */
export const text: () => v.GenericSchema<string> = once(() => v.pipe(v.string(saysText), v.nonEmpty(saysText)));

/** Text whose value no message shows, such as a password. @internal */
export const secret: () => v.GenericSchema<string> = once(() => v.pipe(v.string(saysSecret), v.nonEmpty(saysSecret)));

/** An address, which is text that is not empty. @param example what messages show of such an address @internal */
export function addressText(example: string): v.GenericSchema<string> {
  const says = ({ input }: { readonly input: unknown }): string =>
    mustBe(`an address such as "${example}"`, input, "", input === undefined || input === "" ? UNSET : null);
  return v.pipe(v.string(says), v.nonEmpty(says));
}

/** What to do about an option that is a part of the url, such as the host or the port; null for other names.
 *  @param example an address that has all parts
 *  @internal */
export function partOfUrl(name: string, example: string): string | null {
  return PARTS_OF_URL.test(name) ? `it is a part of the url: { url: "${example}" }` : null;
}

const PARTS_OF_URL = /^(host(_?name)?|port|path|protocol|db(_?name)?|database)$/i;

/** The name of a channel or a topic. @internal */
export const channelName: () => v.GenericSchema<string> = once(() => textUpTo(ID_LENGTH_MAX));

const saysNamespace = says(`text of at most ${ID_LENGTH_MAX} characters`);

/** The name of a store among those that share a channel. @internal */
export const namespaceName: () => v.GenericSchema<string> = once(() =>
  v.pipe(
    v.string(saysNamespace),
    v.maxLength(ID_LENGTH_MAX, saysNamespace),
    v.check(isStorable, ({ input }) => mustBe(STORABLE, input, "", STORABLE_ADVICE)),
  ),
);

const saysPem = ({ input }: { readonly input: unknown }): string => mustBe("PEM text or bytes", input, "secret");
const pem = once(() => v.union([secret(), v.instance(Uint8Array, saysPem)], saysPem));
const saysPems = ({ input }: { readonly input: unknown }): string =>
  mustBe("PEM text or bytes, or a list of them", input, "secret");

/** The schema of {@link BrokerTls}. Clients take a setting that is undefined for one that is given. @internal */
export const tlsOptions: () => v.GenericSchema<BrokerTls> = once(
  () =>
    v.pipe(
      objectOf({
        ca: v.optional(v.union([pem(), v.array(pem())], saysPems)),
        cert: v.optional(pem()),
        key: v.optional(pem()),
        passphrase: v.optional(secret()),
        servername: v.optional(text()),
        rejectUnauthorized: v.optional(v.boolean(says("true or false"))),
      }),
      v.transform(withoutUndefined),
    ) as v.GenericSchema<BrokerTls>,
);
