/** Letters of other scripts that look like Latin ones (Unicode Technical Standard 39, confusables). */
const LOOKS_LATIN = new Set("аеорсухіјѕһԁԛԝьвкмнтӏүαορνιτυκηωγχβεζμс");

const SCRIPTS = [
  "Latin",
  "Greek",
  "Cyrillic",
  "Armenian",
  "Georgian",
  "Hebrew",
  "Arabic",
  "Devanagari",
  "Thai",
  "Hangul",
];
const SCRIPT_PATTERNS = SCRIPTS.map((script) => new RegExp(`\\p{Script=${script}}`, "u"));
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]/u;

/**
 * Why a user name may be taken for another one; `undefined` when it may not. One spelling of each character, letters of one script,
 * none that are not seen, and no name that has nothing but letters which look like Latin ones.
 */
export function findConfusion(username: string): string | undefined {
  if (username !== username.normalize("NFKC")) {
    return "it has characters that are another spelling of simpler ones";
  }
  if (INVISIBLE.test(username)) {
    return "it has characters that are not seen";
  }
  if (SCRIPT_PATTERNS.filter((pattern) => pattern.test(username)).length > 1) {
    return "it has letters of more than one script";
  }
  const letters = Array.from(username.matchAll(/\p{L}/gu), ([letter]) => letter);
  return letters.length > 0 && letters.every((letter) => LOOKS_LATIN.has(letter))
    ? "all its letters look like Latin ones and are not"
    : undefined;
}
