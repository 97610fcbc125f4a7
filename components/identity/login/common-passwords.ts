/** Whether a password is among those that are tried first, or little more than one of them. */
export type CommonPasswords = (password: string, username: string) => boolean;

/** What people put for letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};
/** Characters around a common password that make it no better: a year, a number, punctuation. */
const MAX_ADDED = 6;
/** A pattern that only repeats is one of this many characters at most. */
const MAX_PERIOD = 4;

let loaded: Promise<CommonPasswords> | undefined;

/** The passwords of known breaches, most used first, from `@zxcvbn-ts/language-common`. Read when the first password is set. */
export function loadCommonPasswords(): Promise<CommonPasswords> {
  loaded ??= import("@zxcvbn-ts/language-common").then(({ dictionary }) =>
    createCommonPasswords(new Set(dictionary["passwords-common"].map(String))),
  );
  return loaded;
}

export function createCommonPasswords(known: ReadonlySet<string>): CommonPasswords {
  return (password, username) => {
    const text = password.normalize("NFKC").toLowerCase();
    const isKnown = (base: string) => known.has(base) || (base !== "" && base === username.toLowerCase());
    return (
      isRepetition(text) ||
      [text, readLookalikes(text)].some(
        (each) =>
          isKnown(each) || listBases(each).some((base) => text.length - base.length <= MAX_ADDED && isKnown(base)),
      )
    );
  };
}

/** The text without the digits and punctuation around it. */
function listBases(text: string): readonly string[] {
  const withoutEnd = text.replace(/[\d\p{P}\p{S}\s]{1,20}$/u, "");
  return [withoutEnd, withoutEnd.replace(/^[\d\p{P}\p{S}\s]{1,20}/u, "")];
}

const readLookalikes = (text: string): string => text.replaceAll(/[013457@$!]/g, (found) => LOOKALIKES[found] ?? found);

function isRepetition(text: string): boolean {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    if (text.length >= 2 * period && text === text.slice(0, period).repeat(text.length).slice(0, text.length)) {
      return true;
    }
  }
  return false;
}
