import { CliError, messageOf } from "../failure.ts";

/** The value of a text that is JSON, or a list of the values of its lines. @throws {CliError} for other text */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    // JSON of several lines begins with a line that is none by itself.
    const isLines = lines.length > 1 && lines.slice(0, 2).every((line) => line.trimEnd().endsWith("}"));
    if (!isLines) throw new CliError(`the file is no JSON: ${messageOf(error)}`, { code: "file" });
    return lines.map((line, index) => {
      try {
        return JSON.parse(line) as unknown;
      } catch (failure) {
        throw new CliError(`line ${index + 1} is no JSON: ${messageOf(failure)}`, { code: "file" });
      }
    });
  }
}
