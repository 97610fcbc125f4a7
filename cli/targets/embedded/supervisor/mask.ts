/** Shorter texts occur by chance: masking them would only make logs unreadable. */
const SHORTEST = 6;

/** A function that replaces every occurrence of some secrets in a text, also where they are percent-encoded or JSON. */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const spellings = secrets
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
    // The longest first, so that a secret that holds another is replaced whole.
    .toSorted((a, b) => b.length - a.length);
  const unique = [...new Set(spellings)];
  return (text) => unique.reduce((rest, spelling) => rest.replaceAll(spelling, "********"), text);
}
