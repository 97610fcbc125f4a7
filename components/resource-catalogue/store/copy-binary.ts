import { type BoxValue, PolygonsValue } from "../model/postgres-geometry.ts";
import { COLUMNS, type Cell, OWN_COLUMNS, type Placement } from "./record-columns.ts";

/** What COPY in its binary form begins and ends with (PostgreSQL 18, COPY, "Binary Format"): signature, no flags, no extension. */
export const COPY_HEADER = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
export const COPY_TRAILER = Buffer.from([0xff, 0xff]);

/** UTF-8 needs at most this many bytes for a UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
/** What any cell of a fixed size needs, and what cells of other sizes need beside their contents. */
const CELL_BYTES = 40;
const POINT_BYTES = 16;
const RING_BYTES = 8;
/** Count of the columns, then lengths and values of `part`, `n`, `version`, `collection`, `made_at` and `changed_at`. */
export const PLACEMENT_BYTES = 2 + 8 + 12 + 8 + 8 + 12 + 12;
const NULL = -1;

/** Bytes that the cells of a row need at most. */
export function boundOf(cells: readonly Cell[]): number {
  let bound = cells.length * CELL_BYTES;
  for (const cell of cells) {
    if (typeof cell === "string") {
      bound += MAX_BYTES_PER_UNIT * cell.length;
    } else if (cell instanceof PolygonsValue) {
      for (const ring of cell.rings) {
        bound += RING_BYTES + POINT_BYTES * ring.length;
      }
    }
  }
  return bound;
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
type Writer = (bytes: Buffer, at: number, cell: NonNullable<Cell>) => number;

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

const writeBox: Writer = (bytes, start, cell) => {
  const [west, south, east, north] = (cell as BoxValue).box;
  let at = bytes.writeDoubleBE(east, start);
  at = bytes.writeDoubleBE(north, at);
  at = bytes.writeDoubleBE(west, at);
  return bytes.writeDoubleBE(south, at);
};

const POLYGON_OID = 604;

const writePolygons: Writer = (bytes, start, cell) => {
  const { rings } = cell as PolygonsValue;
  let at = start;
  // Dimensions, no nulls, type of the elements, their count, number of the first.
  for (const value of rings.length === 0 ? [0, 0, POLYGON_OID] : [1, 0, POLYGON_OID, rings.length, 1]) {
    at = bytes.writeInt32BE(value, at);
  }
  for (const ring of rings) {
    at = bytes.writeInt32BE(4 + ring.length * POINT_BYTES, at);
    at = bytes.writeInt32BE(ring.length, at);
    for (const [longitude, latitude] of ring) {
      at = bytes.writeDoubleBE(latitude, bytes.writeDoubleBE(longitude, at));
    }
  }
  return at;
};

const QUOTE = 0x27;
const COMMA = 0x2c;
const SPACE = 0x20;
const ZERO = 0x30;

/** `'word':1,12 'other':2` of `toTsVector`, whose words are letters and digits: their count, then each with its positions. */
const writeWords: Writer = (bytes, start, cell) => {
  const text = cell as string;
  let at = start + 4;
  let count = 0;
  let index = 0;
  while (text.charCodeAt(index) === QUOTE) {
    const end = text.indexOf("'", index + 1);
    at = writeTerminated(bytes, at, text.slice(index + 1, end));
    const countAt = at;
    at += 2;
    let position = 0;
    let last = 0;
    for (index = end + 2; ; index += 1) {
      const code = index < text.length ? text.charCodeAt(index) : SPACE;
      if (code !== COMMA && code !== SPACE) {
        position = position * 10 + code - ZERO;
        continue;
      }
      // They grow, and each is there once: those of the end of a long text are all the same.
      if (position > last) {
        at = bytes.writeUInt16BE(position, at);
        last = position;
      }
      position = 0;
      if (code === SPACE) {
        break;
      }
    }
    bytes.writeUInt16BE((at - countAt - 2) / 2, countAt);
    index += 1;
    count += 1;
  }
  bytes.writeInt32BE(count, start);
  return at;
};

const writeTerminated = (bytes: Buffer, at: number, text: string): number =>
  bytes.writeUInt8(0, at + bytes.write(text, at));

const EPOCH = Date.UTC(2000, 0, 1);
const EARLIEST = -(2n ** 63n);
const LATEST = 2n ** 63n - 1n;
const MILLISECONDS_LENGTH = "2020-02-29T23:59:59.000".length;

/** The last one that was read: most records begin and end at the same instant, and those of a batch are changed at the same. */
let lastText = "";
let lastMicroseconds = 0n;

/** Microseconds since 2000 of an instant as `parseInstant` writes it, or as a Date does. */
function toMicroseconds(text: string): bigint {
  if (text !== lastText) {
    lastMicroseconds = readMicroseconds(text);
    lastText = text;
  }
  return lastMicroseconds;
}

function readMicroseconds(text: string): bigint {
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
