import { type CommandCall, refuseOptions, textOption } from "../command.ts";
import { type LintFinding, type LintSeverity, lintExpression, lintSteps, parseCrontab } from "../engine.ts";
import { CliError, EXIT } from "../failure.ts";
import { readText } from "../files.ts";
import { type Style, styled } from "../output.ts";
import { crontabZone, dialectOption, systemOption } from "../rules.ts";
import { instantOption } from "../times.ts";
import { unhurried } from "../unhurried.ts";

const STYLES: Readonly<Record<LintSeverity, Style>> = { error: "red", warning: "yellow", note: "cyan" };
/** An expression is shown up to this length. */
const EXPRESSION_MAX = 24;

/** `escapement lint`: what is wrong in a crontab. */
export async function run(call: CommandCall): Promise<number> {
  const { out } = call;
  const { name, findings, count } = await look(call);
  if (out.isJson) {
    out.json({ file: name, rules: count, findings });
  } else {
    const rows = findings.map(({ line, column, severity, expression, message }) => {
      const place = severity === "note" ? `${name}:${line}` : `${name}:${line}:${column}`;
      return [place, styled(STYLES[severity], severity), expressionText(expression), message];
    });
    // Messages are read to their end, so that they are not cut.
    const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => textLength(row[column]))));
    for (const [place = "", severity = "", expression = "", message = ""] of rows) {
      const pad = (piece: (typeof rows)[number][number], column: number): string => {
        return " ".repeat((widths[column] ?? 0) - textLength(piece) + 2);
      };
      const indent = widths.reduce((sum, width) => sum + width + 2, 0);
      out.prose(indent, place, pad(place, 0), severity, pad(severity, 1), expression, pad(expression, 2), message);
    }
    out.error(styled("dim", summaryOf(findings, count)));
  }
  return findings.some(({ severity }) => severity !== "note") ? EXIT.found : EXIT.fine;
}

async function look(call: CommandCall): Promise<{ name: string; findings: readonly LintFinding[]; count: number }> {
  const { io, args } = call;
  const rule = textOption(call, "cron");
  const timeZone = crontabZone(textOption(call, "tz") ?? (rule === undefined ? undefined : "UTC"));
  const options = {
    timeZone,
    dialect: dialectOption(call),
    nowMs: instantOption(textOption(call, "from"), "from", io, timeZone),
  };
  if (rule !== undefined) {
    if (args.length > 0) throw new CliError("--cron takes the place of a file: give one of both");
    refuseOptions(call, ["system", "user"], "--cron, which is a rule without a command");
    const findings = lintExpression(rule, options).map((lint) => ({ line: 1, column: 1, expression: rule, ...lint }));
    return { name: "rule", findings, count: 1 };
  }
  const [path] = args;
  if (path === undefined) throw new CliError("lint needs a file, - for the standard input, or --cron with a rule");
  const crontab = parseCrontab(await readText(io, path), { system: systemOption(call, path) });
  return {
    name: path === "-" ? "stdin" : path,
    findings: await unhurried(call, lintSteps(crontab, options), crontab.entries.length, "lines"),
    count: crontab.entries.length,
  };
}

function summaryOf(findings: readonly LintFinding[], count: number): string {
  const counts = (["error", "warning", "note"] as const).map((severity) => {
    const found = findings.filter((finding) => finding.severity === severity).length;
    return `${found} ${severity}${found === 1 ? "" : "s"}`;
  });
  return `${count} ${count === 1 ? "rule" : "rules"}: ${counts.join(", ")}`;
}

function expressionText(text: string): string {
  const characters = [...text];
  return characters.length <= EXPRESSION_MAX ? text : `${characters.slice(0, EXPRESSION_MAX - 1).join("")}…`;
}

function textLength(piece: string | { readonly text: string } | undefined): number {
  return [...(typeof piece === "string" ? piece : (piece?.text ?? ""))].length;
}
