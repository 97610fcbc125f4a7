/** Bytes between two ranges that are rather read than asked for apart: about what a request costs. */
const MAX_GAP_BYTES = 16 * 1024;
/** Ranges are not joined beyond this, so that a few blocks of a large area do not become one huge buffer. */
const MAX_RANGE_BYTES = 8 * 1024 * 1024;

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

export interface PlannedRange<T extends ByteRange> extends ByteRange {
  readonly parts: readonly T[];
}

/** Joins parts that are next to each other, or nearly, so that few requests read them all. */
export function planRanges<T extends ByteRange>(parts: readonly T[]): readonly PlannedRange<T>[] {
  const planned: { offset: number; length: number; parts: T[] }[] = [];
  for (const part of parts.toSorted((a, b) => a.offset - b.offset)) {
    const last = planned.at(-1);
    const end = part.offset + part.length;
    if (
      last !== undefined &&
      part.offset <= last.offset + last.length + MAX_GAP_BYTES &&
      end - last.offset <= Math.max(MAX_RANGE_BYTES, last.length)
    ) {
      last.length = Math.max(last.length, end - last.offset);
      last.parts.push(part);
    } else {
      planned.push({ offset: part.offset, length: part.length, parts: [part] });
    }
  }
  return planned;
}
