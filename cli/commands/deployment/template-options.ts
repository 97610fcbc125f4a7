import { parseArgs } from "node:util";

import { type Layout, layouts } from "../../targets/kubernetes/render/layout.ts";
import { type SecretsMode, secretsModes } from "../../targets/kubernetes/render/secrets-mode.ts";
import { CommandError } from "../command.ts";

export interface TemplateOptions {
  readonly secrets: SecretsMode;
  /** Version of Kubernetes that is written for, as LOCALCLUSTER_ORCH_VERSION has it. */
  readonly version: string | undefined;
  /** File of the certificate that Secrets are sealed for. */
  readonly sealed?: string;
  /** A tree of files in a folder instead of one text. */
  readonly tree?: { readonly layout: Layout; readonly folder: string };
  /** The other arguments. */
  readonly rest: readonly string[];
}

const OPTIONS = {
  for: { type: "string", value: "a version of Kubernetes, such as 1.34" },
  secrets: { type: "string", value: secretsModes.join(" or ") },
  layout: { type: "string", value: layouts.join(" or ") },
  out: { type: "string", value: "the folder that the layout is written into" },
  sealed: { type: "string", value: "the controller's certificate, as kubeseal --fetch-cert prints it" },
} as const;

/** Takes the options of the action template out of the arguments. @throws {CommandError} where they are wrong, or the action is another */
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
  const { for: version, secrets = "described", sealed, layout, out } = values;
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
  const tree = readTree(layout, out);
  if (tree !== undefined && sealed === undefined && mode !== "none") {
    throw new CommandError(
      "a repository holds no Secrets: seal them (--sealed CERTIFICATE), or leave them out (--secrets none)",
      2,
    );
  }
  return {
    secrets: mode,
    version: version === undefined ? undefined : String(version),
    ...(sealed !== undefined && { sealed: String(sealed) }),
    ...(tree !== undefined && { tree }),
    rest,
  };
}

function readTree(layout: string | boolean | undefined, folder: string | boolean | undefined): TemplateOptions["tree"] {
  if (layout === undefined && folder === undefined) {
    return undefined;
  }
  const known = layouts.find((one) => one === layout);
  if (layout !== undefined && known === undefined) {
    throw new CommandError(`--layout ${String(layout)} is not a choice; allowed: ${layouts.join(", ")}`, 2);
  }
  if (known === undefined || typeof folder !== "string") {
    throw new CommandError("--layout kustomize|helm and --out FOLDER go together", 2);
  }
  return { layout: known, folder };
}
