import {
  closeSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
  writevSync,
} from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { isDiskFull } from "../disk-full.ts";
import {
  SEGMENT_HEADER_BYTES,
  journalDirectory,
  listSegments,
  makeJournalDirectory,
  segmentHeader,
  segmentName,
} from "./journal-files.ts";
import { RECORD_HEADER_BYTES, type RecordBody, type Statement, encodeRecord } from "./journal-record.ts";
import { syncDirectory } from "../sync-directory.ts";

/** Zeros that are written ahead: a record that lengthens its file costs the file system a commit of its own. */
const AHEAD = Buffer.alloc(1 << 20);
/** Segments that are kept to be written again. */
const MAX_SPARES = 16;
const SPARE = "spare-";

const syncData = promisify(fdatasync);

/**
 * Every change of the index, on the disk before it is acknowledged, so that an index that is lost or lags behind after a power cut
 * is made anew exactly: `base.db`, a copy of the index as of some batch, and segments with the statements of all batches since.
 */
export class Journal {
  readonly #directory: string;
  readonly #id: string;
  readonly #segmentBytes: number;
  readonly #texts = new Map<string, number>();
  #descriptor = -1;
  /** Where the next record begins, and the last one did. */
  #position = 0;
  #last = 0;
  #allocated = 0;
  /** Texts that came with the last record. */
  #added: readonly string[] = [];
  /** Whether the name of the segment is to be forced to the disk. */
  #isNew = false;
  #bytes = 0;

  /** Begins a segment whose first batch is `next`. */
  constructor(directory: string, id: string, next: number, segmentBytes: number) {
    this.#directory = directory;
    this.#id = id;
    this.#segmentBytes = segmentBytes;
    makeJournalDirectory(directory);
    // What a process that ended had begun to copy.
    rmSync(join(journalDirectory(directory), "base.db.new"), { force: true });
    this.#begin(next);
  }

  /** Bytes of records since the last base, or the start of this process. */
  get bytesSinceBase(): number {
    return this.#bytes;
  }

  /** Writes a record, which is safe once `sync` has resolved. @throws when there is no room; then nothing of it remains */
  append(batch: number, time: number, statements: readonly Statement[]): void {
    if (this.#position > this.#segmentBytes) {
      closeSync(this.#descriptor);
      this.#begin(batch);
    }
    const [header, body] = encodeRecord(batch, time, this.#toBody(statements));
    this.#last = this.#position;
    const length = header.length + body.length;
    try {
      this.#allocate(length);
      this.#write([header, body]);
    } catch (error) {
      this.retract();
      throw error;
    }
    this.#position += length;
    this.#bytes += length;
  }

  /** Takes back the last record, whose changes were not committed. */
  retract(): void {
    for (const sql of this.#added) {
      this.#texts.delete(sql);
    }
    this.#added = [];
    this.#position = this.#last;
    if (this.#position < this.#allocated) {
      writeSync(this.#descriptor, Buffer.alloc(RECORD_HEADER_BYTES), 0, RECORD_HEADER_BYTES, this.#position);
    } else {
      ftruncateSync(this.#descriptor, this.#position);
    }
  }

  /** Forces to the disk what was appended; not while another call is under way. */
  async sync(): Promise<void> {
    const isNew = this.#isNew;
    await syncData(this.#descriptor);
    if (isNew) {
      await syncDirectory(journalDirectory(this.#directory));
      this.#isNew = false;
    }
  }

  /** Removes segments that hold nothing after batch `base`, but for some that are written again. */
  async forget(base: number): Promise<void> {
    const folder = journalDirectory(this.#directory);
    let spares = (await readdir(folder)).filter((name) => name.startsWith(SPARE)).length;
    const segments = listSegments(this.#directory);
    let kept = 0;
    for (const [index, { path, first }] of segments.entries()) {
      const next = segments[index + 1];
      const { size } = await stat(path);
      if (next === undefined || next.first > base + 1) {
        kept += next === undefined ? this.#position : size;
      } else if (spares < MAX_SPARES && size >= this.#segmentBytes) {
        await rename(path, join(folder, `${SPARE}${first}`));
        spares += 1;
      } else {
        await rm(path);
      }
    }
    this.#bytes = kept;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #begin(first: number): void {
    const folder = journalDirectory(this.#directory);
    const path = join(folder, segmentName(first));
    const spare = readdirSync(folder).find((name) => name.startsWith(SPARE));
    if (spare === undefined) {
      this.#descriptor = openSync(path, "w+", 0o600);
    } else {
      // Its records are of batches before the base: whoever reads the segment stops at them.
      renameSync(join(folder, spare), path);
      this.#descriptor = openSync(path, "r+");
    }
    this.#texts.clear();
    this.#added = [];
    this.#position = SEGMENT_HEADER_BYTES;
    this.#isNew = true;
    writeSync(this.#descriptor, segmentHeader(this.#id), 0, SEGMENT_HEADER_BYTES, 0);
    this.#allocated = fstatSync(this.#descriptor).size;
  }

  #toBody(statements: readonly Statement[]): RecordBody {
    const texts: [number, string][] = [];
    const numbered = statements.map(([sql, ...values]): RecordBody["statements"][number] => {
      let number = this.#texts.get(sql);
      if (number === undefined) {
        number = this.#texts.size;
        this.#texts.set(sql, number);
        texts.push([number, sql]);
      }
      return [number, ...values];
    });
    this.#added = texts.map(([, sql]) => sql);
    return { texts, statements: numbered };
  }

  /** Makes room for `length` bytes in the file, where the disk has it. */
  #allocate(length: number): void {
    try {
      while (this.#position + length > this.#allocated && this.#allocated < this.#segmentBytes) {
        this.#allocated += writeSync(this.#descriptor, AHEAD, 0, AHEAD.length, this.#allocated);
      }
    } catch (error) {
      if (!isDiskFull(error)) {
        throw error;
      }
    }
  }

  #write(buffers: readonly Buffer[]): void {
    const length = buffers.reduce((sum, each) => sum + each.length, 0);
    let written = writevSync(this.#descriptor, buffers, this.#position);
    if (written < length) {
      const rest = Buffer.concat(buffers);
      while (written < length) {
        // Throws on a full disk.
        written += writeSync(this.#descriptor, rest, written, length - written, this.#position + written);
      }
    }
  }
}
