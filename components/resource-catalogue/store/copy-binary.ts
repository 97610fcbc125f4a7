import { COLUMNS, type Cell, OWN_COLUMNS, type Placement } from "./copy-text.ts";

/** What COPY in its binary form begins and ends with (PostgreSQL 18, COPY, "Binary Format"): signature, no flags, no extension. */
export const COPY_HEADER = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

/** UTF-8 needs at most this many bytes for a UTF-16 unit. Numbers of geometries grow more: from two characters to eight bytes. */
const MAX_BYTES_PER_UNIT = 4;
/** Length of a cell, and what an array says of itself. */
const CELL_OVERHEAD = 32;
/** Count of the columns, then lengths and values of `part`, `n`, `version`, `collection`, `made_at` and `changed_at`. */
export const PLACEMENT_BYTES = 2 + 8 + 12 + 8 + 8 + 12 + 12;
const NULL = -1;

/** Bytes that the cells of a row need at most. */
export function boundOf(cells: readonly Cell[]): number {
  let units = 0;
  for (const cell of cells) {
    units += typeof cell === "string" ? cell.length : 0;
  }
  return cells.length * CELL_OVERHEAD + MAX_BYTES_PER_UNIT * units;
}

/** Writes where a row goes, of which nothing is known while its cells are written. */
export function writePlacement(bytes: Buffer, start: number, placement: Placement): void {
  let at = bytes.writeInt16BE(COLUMNS.length, start);
  at = writeInt4(bytes, at, placement.part);
  at = writeInt8(bytes, at, BigInt(placement.n));
  at = writeInt4(bytes, at, placement.version);
  at = writeInt4(bytes, at, placement.collection);
  at = writeInt8(bytes, at, toMicroseconds(placement.madeAt));
  writeInt8(bytes, at, toMicroseconds(placement.changedAt));
}

const writeInt4 = (bytes: Buffer, at: number, value: number): number =>
  bytes.writeInt32BE(value, bytes.writeInt32BE(4, at));

const writeInt8 = (bytes: Buffer, at: number, value: bigint): number =>
  bytes.writeBigInt64BE(value, bytes.writeInt32BE(8, at));

/** Writes the columns of the record's own; gives the end of them. */
export function writeCells(bytes: Buffer, start: number, cells: readonly Cell[]): number {
  let at = start;
  for (let index = 0; index < OWN_COLUMNS.length; index += 1) {
    const cell = cells[index] ?? null;
    if (cell === null) {
      at = bytes.writeInt32BE(NULL, at);
      continue;
    }
    const end = (WRITERS[index] as Writer)(bytes, at + 4, cell);
    bytes.writeInt32BE(end - at - 4, at);
    at = end;
  }
  return at;
}

/** Writes a value as its type is received (`…recv` in PostgreSQL's sources), and gives the end of it. */
type Writer = (bytes: Buffer, at: number, cell: string | number) => number;

const writeText: Writer = (bytes, at, cell) => at + bytes.write(cell as string, at);

const writeInteger: Writer = (bytes, at, cell) => bytes.writeInt32BE(cell as number, at);

const writeReal: Writer = (bytes, at, cell) => bytes.writeFloatBE(cell as number, at);

/** A version, then the text. */
const writeJson: Writer = (bytes, at, cell) => writeText(bytes, bytes.writeUInt8(1, at), cell);

const HEX_PREFIX = "\\x".length;
const writeBytes: Writer = (bytes, at, cell) => at + bytes.write((cell as string).slice(HEX_PREFIX), at, "hex");

const writeInstant: Writer = (bytes, at, cell) => bytes.writeBigInt64BE(toMicroseconds(cell as string), at);

const CLOSED = 0x02 | 0x04;

/** `[start,end]`. */
const writeSpan: Writer = (bytes, start, cell) => {
  const text = cell as string;
  const comma = text.indexOf(",");
  const at = writeInt8(bytes, bytes.writeUInt8(CLOSED, start), toMicroseconds(text.slice(1, comma)));
  return writeInt8(bytes, at, toMicroseconds(text.slice(comma + 1, -1)));
};

/** `(east,north),(west,south)`. */
const writeBox: Writer = (bytes, at, cell) => writeNumbers(bytes, at, cell as string);

const POLYGON_OID = 604;

/** `{"((x,y),(x,y))","…"}`. */
const writePolygons: Writer = (bytes, start, cell) => {
  const polygons = (cell as string).split('"').filter((_, index) => index % 2 === 1);
  let at = start;
  // Dimensions, no nulls, type of the elements, their count, number of the first.
  for (const value of polygons.length === 0 ? [0, 0, POLYGON_OID] : [1, 0, POLYGON_OID, polygons.length, 1]) {
    at = bytes.writeInt32BE(value, at);
  }
  for (const polygon of polygons) {
    const end = writeNumbers(bytes, at + 8, polygon);
    bytes.writeInt32BE(end - at - 4, at);
    bytes.writeInt32BE((end - at - 8) / 16, at + 4);
    at = end;
  }
  return at;
};

const COMMA = 0x2c;
const OPEN = 0x28;
const CLOSE = 0x29;

/** The numbers between parentheses and commas, as float8. */
function writeNumbers(bytes: Buffer, start: number, text: string): number {
  let at = start;
  let from = 0;
  for (let index = 0; index <= text.length; index += 1) {
    const code = index === text.length ? COMMA : text.charCodeAt(index);
    if (code === COMMA || code === OPEN || code === CLOSE) {
      if (index > from) {
        at = bytes.writeDoubleBE(Number(text.slice(from, index)), at);
      }
      from = index + 1;
    }
  }
  return at;
}

/** `'word':1,12 'other':2` of `toTsVector`, whose words are letters and digits: their count, then each with its positions. */
const writeWords: Writer = (bytes, start, cell) => {
  const text = cell as string;
  let at = start + 4;
  let count = 0;
  let from = text.indexOf("'");
  while (from !== -1) {
    const quote = text.indexOf("'", from + 1);
    at += bytes.write(text.slice(from + 1, quote), at);
    at = bytes.writeUInt8(0, at);
    const next = text.indexOf("'", quote + 1);
    at = writePositions(bytes, at, text.slice(quote + 2, next === -1 ? text.length : next - 1));
    count += 1;
    from = next;
  }
  bytes.writeInt32BE(count, start);
  return at;
};

/** Positions grow, and each is there once. */
function writePositions(bytes: Buffer, start: number, text: string): number {
  let at = start + 2;
  let last = 0;
  for (const part of text.split(",")) {
    const position = Number(part);
    if (position > last) {
      at = bytes.writeUInt16BE(position, at);
      last = position;
    }
  }
  bytes.writeUInt16BE((at - start - 2) / 2, start);
  return at;
}

const EPOCH = Date.UTC(2000, 0, 1);
const EARLIEST = -(2n ** 63n);
const LATEST = 2n ** 63n - 1n;
const MILLISECONDS_LENGTH = "2020-02-29T23:59:59.000".length;

/** Microseconds since 2000 of an instant as `parseInstant` writes it, or as a Date does. */
function toMicroseconds(text: string): bigint {
  if (text === "-infinity") {
    return EARLIEST;
  }
  if (text === "infinity") {
    return LATEST;
  }
  const milliseconds = Date.parse(text.length > MILLISECONDS_LENGTH ? `${text.slice(0, MILLISECONDS_LENGTH)}Z` : text);
  return BigInt(milliseconds - EPOCH) * 1000n + BigInt(text.slice(MILLISECONDS_LENGTH, -1));
}

const BY_COLUMN: Readonly<Partial<Record<(typeof OWN_COLUMNS)[number], Writer>>> = {
  at: writeInstant,
  span: writeSpan,
  bbox: writeBox,
  shapes: writePolygons,
  holes: writePolygons,
  low: writeReal,
  high: writeReal,
  cloud: writeReal,
  words: writeWords,
  properties: writeJson,
  links_from: writeInteger,
  links_to: writeInteger,
  source: writeBytes,
};

const WRITERS: readonly Writer[] = OWN_COLUMNS.map((column) => BY_COLUMN[column] ?? writeText);
