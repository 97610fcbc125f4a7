/** Where a codestream that begins with SOC and SIZ has these (ISO/IEC 15444-1 A.5.1). */
const SIZ = { right: 8, bottom: 12, left: 16, top: 20, components: 40, depth: 42 } as const;
const [GREY, SRGB] = [17, 16];
const DEFLATED_NEVER = 7;

/**
 * A JP2 file of some components of a codestream, all of one depth: its component mapping uses them directly (annex I.5.3.5), beside a palette of
 * one colour that nothing refers to. Decoders that only give one or three components are so led to any of them, unchanged.
 */
export function chooseComponents(codestream: Uint8Array, chosen: readonly number[]): Uint8Array {
  const siz = Buffer.from(codestream.buffer, codestream.byteOffset, codestream.byteLength);
  const depth = siz[SIZ.depth] ?? 7;
  const sampleBytes = (depth & 0x7f) >= 8 ? 2 : 1;
  return Buffer.concat([
    toBox("jP  ", Buffer.from("0d0a870a", "hex")),
    toBox("ftyp", Buffer.from("jp2 \0\0\0\0jp2 ", "latin1")),
    toBox(
      "jp2h",
      toBox(
        "ihdr",
        toUint32(siz.readUInt32BE(SIZ.bottom) - siz.readUInt32BE(SIZ.top)),
        toUint32(siz.readUInt32BE(SIZ.right) - siz.readUInt32BE(SIZ.left)),
        siz.subarray(SIZ.components, SIZ.components + 2),
        Buffer.from([depth, DEFLATED_NEVER, 0, 0]),
      ),
      toBox("colr", Buffer.from([1, 0, 0]), toUint32(chosen.length === 1 ? GREY : SRGB)),
      toBox(
        "pclr",
        Buffer.from([0, 1, chosen.length, ...chosen.map(() => depth)]),
        Buffer.alloc(chosen.length * sampleBytes),
      ),
      toBox("cmap", ...chosen.map((component) => Buffer.from([component >> 8, component & 0xff, 0, 0]))),
    ),
    toBox("jp2c", siz),
  ]);
}

function toBox(type: string, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([toUint32(body.length + 8), Buffer.from(type, "latin1"), body]);
}

function toUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
