import { combineCrcs, isCrc } from "./digests/crc-combine.ts";
import { createDigests, prepareDigests } from "./digests/digests.ts";
import { DEFAULT_CHECKSUM, type Part, type StoredChecksum, type Upload } from "./rows.ts";

/** The checksum of an object that came in these parts, of the algorithm and type that its upload named. */
export async function toObjectChecksum(upload: Upload, parts: readonly Part[]): Promise<StoredChecksum | undefined> {
  const algorithm = upload.checksum_algorithm ?? DEFAULT_CHECKSUM;
  const type = upload.checksum_type ?? "FULL_OBJECT";
  const values = parts.flatMap(({ checksum, size }) =>
    checksum === null ? [] : [{ value: Buffer.from(checksum, "base64"), size }],
  );
  // Parts that came while an earlier release ran may have none.
  if (values.length < parts.length) {
    return undefined;
  }
  if (type === "FULL_OBJECT") {
    if (!isCrc(algorithm)) {
      return undefined;
    }
    return { algorithm, type, value: (await combineCrcs(algorithm, values)).toString("base64") };
  }
  await prepareDigests([algorithm]);
  const digests = createDigests([algorithm]);
  for (const { value } of values) {
    digests.update(value);
  }
  const whole = digests.finish()[algorithm];
  return { algorithm, type, value: `${whole?.toString("base64") ?? ""}-${parts.length}` };
}

/** Clients write a composite checksum with the count of its parts behind it, or without. */
export function isExpectedChecksum(expected: string, { value, type }: Partial<StoredChecksum> = {}): boolean {
  return expected === value || (type === "COMPOSITE" && expected === value?.replace(/-\d+$/, ""));
}
