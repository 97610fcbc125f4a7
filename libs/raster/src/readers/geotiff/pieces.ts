import type { BlockAddress } from "../raster.ts";
import type { Layout } from "./layout.ts";
import type { MetadataReader } from "./metadata-reader.ts";
import { TAG, readEntry } from "./tags.ts";

/** A stored tile, strip or part of an uncompressed strip, and where its rows are in their block. */
export interface Piece {
  readonly offset: number;
  readonly length: number;
  readonly rows: number;
  readonly firstRow: number;
  readonly expectedBytes: number;
}

/** Where the pieces of a block are; none for what is not stored. `plane` is the band of files with a plane a band, else 0. */
export async function findPieces(
  { column, row }: BlockAddress,
  plane: number,
  layout: Layout,
  reader: MetadataReader,
  signal?: AbortSignal,
): Promise<readonly Piece[]> {
  const { image, height, blockHeight, pieceRows } = layout;
  const rowBytes = rowBytesOf(layout);
  if (layout.isTiled) {
    const index = (plane * Math.ceil(height / blockHeight) + row) * layout.columns + column;
    const [offset, length] = await Promise.all([
      readEntry(image, TAG.tileOffsets, index, reader, signal),
      readEntry(image, TAG.tileByteCounts, index, reader, signal),
    ]);
    return offset === 0 || length === 0
      ? []
      : [{ offset, length, rows: blockHeight, firstRow: 0, expectedBytes: rowBytes * blockHeight }];
  }
  const strips = Math.ceil(height / pieceRows);
  const top = row * blockHeight;
  const bottom = Math.min(height, top + blockHeight);
  const pieces: Piece[] = [];
  for (let strip = Math.floor(top / pieceRows); strip * pieceRows < bottom; strip += 1) {
    const [offset, length] = await Promise.all([
      readEntry(image, TAG.stripOffsets, plane * strips + strip, reader, signal),
      readEntry(image, TAG.stripByteCounts, plane * strips + strip, reader, signal),
    ]);
    if (offset === 0 || length === 0) {
      continue;
    }
    const stripTop = strip * pieceRows;
    if (layout.isSplit) {
      const first = Math.max(top, stripTop);
      const rows = Math.min(bottom, stripTop + pieceRows) - first;
      pieces.push({
        offset: offset + (first - stripTop) * rowBytes,
        length: rows * rowBytes,
        rows,
        firstRow: first - top,
        expectedBytes: rows * rowBytes,
      });
    } else {
      const rows = Math.min(pieceRows, height - stripTop);
      pieces.push({ offset, length, rows, firstRow: stripTop - top, expectedBytes: rows * rowBytes });
    }
  }
  return pieces;
}

function rowBytesOf({ blockWidth, samples, isPlanar, bits, isComplex }: Layout): number {
  return Math.ceil((blockWidth * (isPlanar ? 1 : samples) * bits * (isComplex ? 2 : 1)) / 8);
}
