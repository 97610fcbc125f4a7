import { secretInputs } from "@swath/cwl";

import { loadPackage } from "../packages/load-package.ts";

/** Inputs with those that the package calls secret (`cwltool:Secrets`) left out of sight. */
export async function maskSecrets(
  inputs: Readonly<Record<string, unknown>>,
  process: { readonly id: string; readonly package: string; readonly entry: string | null } | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  if (process === undefined) {
    return inputs;
  }
  const document = await loadPackage(process.package, process.entry ?? process.id);
  const secret = new Set(secretInputs(document.process));
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, secret.has(name) ? "(secret)" : value]),
  );
}
