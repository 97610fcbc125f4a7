/** Words of one record at most, and characters of one word. */
const MAX_WORDS = 2000;
const MAX_WORD_LENGTH = 60;
/** Characters of the positions of one word: a hundred at least. */
const MAX_POSITIONS_LENGTH = 600;

/** Printable ASCII has neither marks nor letters of more than one form. */
const PLAIN = /^[ -~]*$/;

/** Text without case and marks on letters, as words are compared. */
export function foldText(text: string): string {
  if (PLAIN.test(text)) {
    return text.toLowerCase();
  }
  return text
    .normalize("NFD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll("ς", "σ");
}

/** The words of a text in their order: runs of letters and digits. `S2B_33TWM` has two. */
export function wordsOf(text: string): string[] {
  const isPlain = PLAIN.test(text);
  return (isPlain ? text.toLowerCase().match(/[a-z0-9]+/g) : foldText(text).match(/[\p{L}\p{N}]+/gu)) ?? [];
}

/** The words of a record as PostgreSQL's tsvector is written, with positions, so that phrases are found. */
export function toTsVector(texts: readonly string[]): string {
  const places = new Map<string, string>();
  let position = 0;
  for (const text of texts) {
    for (const word of wordsOf(text)) {
      position += 1;
      const short = word.length > MAX_WORD_LENGTH ? word.slice(0, MAX_WORD_LENGTH) : word;
      const known = places.get(short);
      const at = Math.min(position, 16_000);
      if (known === undefined) {
        if (places.size < MAX_WORDS) {
          places.set(short, String(at));
        }
      } else if (known.length < MAX_POSITIONS_LENGTH) {
        places.set(short, `${known},${at}`);
      }
    }
    // Words of two texts make no phrase.
    position += 10;
  }
  let vector = "";
  for (const [word, at] of places) {
    vector += vector === "" ? `'${word}':${at}` : ` '${word}':${at}`;
  }
  return vector;
}
