import { Turn } from "../turns.ts";

/** A reflected CRC: its width in bits and its polynomial, lowest power in the highest bit. */
interface CrcKind {
  readonly width: 32 | 64;
  readonly polynomial: bigint;
}

/** Checksums of parts that make the checksum of the whole; any other of the whole would take all bytes again. */
type CrcName = "crc32" | "crc32c" | "crc64nvme";
const KINDS: Readonly<Record<CrcName, CrcKind>> = {
  crc32: { width: 32, polynomial: 0xedb88320n },
  crc32c: { width: 32, polynomial: 0x82f63b78n },
  crc64nvme: { width: 64, polynomial: 0x9a6c9329ac4bc9b5n },
};

export const isCrc = (name: string): name is CrcName => Object.hasOwn(KINDS, name);

/**
 * The CRC of a whole from the CRCs of its parts, without reading them again: appending n bytes multiplies the CRC by x^(8n)
 * modulo the polynomial. That is how a full-object checksum of a multipart upload is found.
 */
export async function combineCrcs(
  name: CrcName,
  parts: readonly { readonly value: Buffer; readonly size: number }[],
): Promise<Buffer> {
  const kind = KINDS[name];
  const turn = new Turn();
  // Parts are of one size, but for the last.
  const powers = new Map<number, bigint>();
  let total = 0n;
  for (const { value, size } of parts) {
    let power = powers.get(size);
    if (power === undefined) {
      powers.set(size, (power = powerOfX(BigInt(size) * 8n, kind)));
    }
    total = multiply(power, total, kind) ^ BigInt(`0x${value.toString("hex")}`);
    await turn.next();
  }
  return Buffer.from(total.toString(16).padStart(kind.width / 4, "0"), "hex");
}

/** Product of two polynomials modulo the CRC's; the highest bit is x^0. */
function multiply(left: bigint, right: bigint, { width, polynomial }: CrcKind): bigint {
  let product = 0n;
  let factor = right;
  for (let bit = BigInt(width - 1); bit >= 0n; bit -= 1n) {
    if ((left >> bit) & 1n) {
      product ^= factor;
    }
    factor = factor & 1n ? (factor >> 1n) ^ polynomial : factor >> 1n;
  }
  return product;
}

function powerOfX(exponent: bigint, kind: CrcKind): bigint {
  let result = 1n << BigInt(kind.width - 1);
  let square = result >> 1n;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) {
      result = multiply(square, result, kind);
    }
    square = multiply(square, square, kind);
  }
  return result;
}
