/** Bytes before each tile, and behind it. */
const LEADER_BYTES = 4;
const TRAILER_BYTES = 4;

/**
 * What GDAL looks for behind the header of a cloud-optimised file ("Header ghost area" of its COG driver): it then reads a tile with
 * its size in one request. A program that changes the file in place changes the last line to YES and the blank.
 */
export function encodeLayout(): Buffer {
  const text = [
    "LAYOUT=IFDS_BEFORE_DATA",
    "BLOCK_ORDER=ROW_MAJOR",
    "BLOCK_LEADER=SIZE_AS_UINT4",
    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED",
    "KNOWN_INCOMPATIBLE_EDITION=NO",
    " ",
  ].join("\n");
  const head = `GDAL_STRUCTURAL_METADATA_SIZE=${String(text.length).padStart(6, "0")} bytes\n`;
  const length = head.length + text.length;
  // The directory behind it begins at an even offset (TIFF 6.0 section 2).
  return Buffer.concat([Buffer.from(head + text, "latin1")], length + (length % 2));
}

/** A tile with its size before it and its last bytes again behind it. */
export function frameTile(tile: Uint8Array): Uint8Array {
  const framed = Buffer.alloc(framedBytes(tile));
  framed.writeUInt32LE(tile.length, 0);
  framed.set(tile, LEADER_BYTES);
  framed.set(tile.subarray(-TRAILER_BYTES), LEADER_BYTES + tile.length);
  return framed;
}

export const framedBytes = ({ length }: Uint8Array): number => LEADER_BYTES + length + TRAILER_BYTES;

/** Where tiles begin that are written one after another from an offset on, and where the last one ends. */
export function placeTiles(
  tiles: readonly Uint8Array[],
  start: number,
): { readonly offsets: readonly number[]; readonly end: number } {
  let end = start;
  const offsets = tiles.map((tile) => {
    const offset = end + LEADER_BYTES;
    end += framedBytes(tile);
    return offset;
  });
  return { offsets, end };
}
