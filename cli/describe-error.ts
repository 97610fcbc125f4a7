import { CommandError } from "./commands/command.ts";
import { StateFileError } from "./targets/embedded/state/json-file.ts";
import { StateDirectoryError } from "./targets/embedded/state/prepare-directories.ts";
import { KubernetesError } from "./targets/kubernetes/kubernetes-error.ts";

/** What a person sees of an error: advice for what they can mend, a stack only for what looks like a fault of ours. */
export function describeError(error: unknown, debug: boolean): string {
  if (!(error instanceof Error)) {
    return `swath: ${String(error)}`;
  }
  const isTheirs =
    error instanceof CommandError ||
    error instanceof StateFileError ||
    error instanceof StateDirectoryError ||
    error instanceof KubernetesError ||
    error.name === "TypeError [ERR_PARSE_ARGS_UNKNOWN_OPTION]" ||
    ("code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
  return debug || !isTheirs ? `swath: ${error.stack ?? error.message}` : `swath: ${error.message}`;
}
