import { parseArgs } from "node:util";

import { type SecretsMode, secretsModes } from "../targets/kubernetes/render/secrets-mode.ts";
import { CommandError } from "./command.ts";

export interface TemplateOptions {
  readonly secrets: SecretsMode;
  /** Version of Kubernetes that is written for, as LOCALCLUSTER_ORCH_VERSION has it. */
  readonly version: string | undefined;
  /** File of the certificate that Secrets are sealed for. */
  readonly sealed?: string;
  /** The other arguments. */
  readonly rest: readonly string[];
}

const OPTIONS = {
  for: { type: "string", value: "a version of Kubernetes, such as 1.34" },
  secrets: { type: "string", value: secretsModes.join(" or ") },
  sealed: { type: "string", value: "the controller's certificate, as kubeseal --fetch-cert prints it" },
} as const;

/** Takes `--for`, `--secrets` and `--sealed` out of the arguments. @throws {CommandError} where they are wrong, or the action is another */
export function takeTemplateOptions(args: readonly string[]): TemplateOptions {
  const { values, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options = tokens.filter((token) => token.kind === "option");
  for (const { name, rawName, value } of options) {
    const known = (OPTIONS as Readonly<Record<string, { readonly value: string }>>)[name];
    if (known === undefined || value === undefined || value === "") {
      throw new CommandError(
        known === undefined ? `${rawName} is not an option` : `${rawName} needs a value: ${known.value}`,
        2,
      );
    }
  }
  const rest = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []));
  const { for: version, secrets = "described", sealed } = values;
  if (options.length > 0 && rest[0] !== "template") {
    throw new CommandError(`${options[0]?.rawName} is an option of the action template`, 2);
  }
  const mode = secretsModes.find((one) => one === secrets);
  if (mode === undefined) {
    throw new CommandError(`--secrets ${String(secrets)} is not a choice; allowed: ${secretsModes.join(", ")}`, 2);
  }
  if (version !== undefined && !/^v?1\.\d+(\.\d+)?$/.test(String(version))) {
    throw new CommandError(`--for ${String(version)} is not a version of Kubernetes; allowed: such as 1.34`, 2);
  }
  if (sealed !== undefined && mode !== "described") {
    throw new CommandError(`--sealed prints Secrets as SealedSecrets; leave --secrets ${mode} out`, 2);
  }
  return {
    secrets: mode,
    version: version === undefined ? undefined : String(version),
    ...(sealed !== undefined && { sealed: String(sealed) }),
    rest,
  };
}
