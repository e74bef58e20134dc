import type { CommandCall, Target, TargetOptions } from "./command.ts";
import { CliError } from "./failure.ts";

/** Opens what the options name. */
export async function openTarget(_call: CommandCall, _options: TargetOptions = {}): Promise<Target> {
  throw new CliError("no scheduler is named");
}
