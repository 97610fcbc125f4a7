/** Inputs with those that the package calls secret (`cwltool:Secrets`) left out of sight. */
export function maskSecrets(
  inputs: Readonly<Record<string, unknown>>,
  secrets: readonly string[],
): Readonly<Record<string, unknown>> {
  const secret = new Set(secrets);
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, secret.has(name) ? "(secret)" : value]),
  );
}
