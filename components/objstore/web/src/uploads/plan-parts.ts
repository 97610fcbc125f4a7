/** A file over this is sent in parts, so that a broken connection costs one part and not everything. */
export const PARTS_FROM = 64 * 2 ** 20;

const MIN_PART = 16 * 2 ** 20;
/** S3 takes 10,000; some are left as room. */
const MAX_PARTS = 9000;

export interface Part {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** How a file is cut: 16 MiB a part, more where that would be too many. */
export function planParts(size: number): readonly Part[] {
  const length = Math.max(MIN_PART, Math.ceil(size / MAX_PARTS / 2 ** 20) * 2 ** 20);
  const count = Math.ceil(size / length);
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    start: index * length,
    end: Math.min(size, (index + 1) * length),
  }));
}
