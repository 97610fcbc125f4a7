// `file:checksum` of the STAC file extension is a multihash in hexadecimal: algorithm, length, digest, the first two as
// variable-length integers. These are the algorithms of its table that Node has.
const CODES = { sha1: "11", sha256: "12", sha512: "13", md5: "d501" } as const;
const BYTES = { sha1: 20, sha256: 32, sha512: 64, md5: 16 } as const;

export type HashAlgorithm = keyof typeof CODES;

export interface Digest {
  readonly algorithm: HashAlgorithm;
  /** Lower case. */
  readonly hex: string;
}

/** A digest as `file:checksum` wants it. */
export function toMultihash({ algorithm, hex }: Digest): string {
  return `${CODES[algorithm]}${BYTES[algorithm].toString(16).padStart(2, "0")}${hex}`;
}

/** The digest in a multihash; undefined for an algorithm that is not in the table or a text that is no multihash. */
export function parseMultihash(text: string): Digest | undefined {
  const lower = text.toLowerCase();
  for (const algorithm of Object.keys(CODES) as HashAlgorithm[]) {
    const head = toMultihash({ algorithm, hex: "" });
    const hex = lower.slice(head.length);
    if (lower.startsWith(head) && hex.length === BYTES[algorithm] * 2 && /^[0-9a-f]+$/.test(hex)) {
      return { algorithm, hex };
    }
  }
  return undefined;
}
