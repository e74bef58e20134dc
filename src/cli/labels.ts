import { type CommandCall, textsOption } from "./command.ts";
import { CliError } from "./failure.ts";

/** The labels of `--label name=value`. @throws {CliError} for text without a sign */
export function labelsOption(call: CommandCall): { labels?: Record<string, string> } {
  const given = textsOption(call, "label");
  if (given.length === 0) return {};
  const pairs = given.map((text): [string, string] => {
    const sign = text.indexOf("=");
    if (sign < 1) throw new CliError(`--label must be name=value; got ${JSON.stringify(text)}`);
    return [text.slice(0, sign), text.slice(sign + 1)];
  });
  return { labels: Object.fromEntries(pairs) };
}
