import { createReadStream, renameSync, writeFileSync } from "node:fs";
import { type FileHandle, open, stat, truncate } from "node:fs/promises";

import { detachChunk } from "@swath/service";
import { type Digest, toMultihash } from "@swath/stac";

import { AT_ONCE } from "../at-once.ts";
import { displayUrl } from "../display-url.ts";
import { StagingError } from "../errors.ts";
import type { StageInLimits } from "../types.ts";
import { type Checksum, type RunningChecksum, checksumOf, isDigest, startChecksum } from "./checksums.ts";
import type { Budget } from "./limits.ts";
import { type OpenedSource, discard } from "./opened-source.ts";
import type { DownloadState } from "./download-state.ts";
import { readBody } from "./read-body.ts";
import { retry } from "./retry.ts";
import type { Sources } from "./sources.ts";

const BLOCK = 2 ** 20;
/** Files shorter than this are fetched anew rather than continued, which saves keeping a record of each. */
const MIN_RESUMABLE_BYTES = 2 ** 20;

export interface Download {
  readonly href: string;
  /** Document that names it. */
  readonly from?: string;
  /** Where the file lies when it is complete. */
  readonly path: string;
  /** What is known of it beforehand. */
  readonly size?: number;
  readonly checksum?: Digest;
}

export interface DownloadContext {
  readonly sources: Sources;
  readonly limits: StageInLimits;
  readonly budget: Budget;
  readonly signal: AbortSignal;
  /** The state of a download that outlives this process. */
  readonly record: DownloadState;
}

/**
 * Fetches a file, continuing what is there of it. The file appears under its name only when its length and checksums are right.
 * @throws {StagingError}
 */
export async function download(requested: Download, context: DownloadContext): Promise<void> {
  const { limits, signal, record } = context;
  const account = context.budget.file(requested.path, displayUrl(requested.href));
  const done = await record.readDone();
  if (done !== undefined && (await sizeOf(requested.path)) === done) {
    account.set(done);
    return;
  }
  if (requested.size !== undefined) {
    account.expect(requested.size);
  }
  const result = await retry((reportProgress) => attempt(requested, context, reportProgress), {
    retries: limits.retries,
    signal,
  });
  await verify(requested, record.partPath, result);
  renameSync(record.partPath, requested.path);
  await record.writeDone(result.size > MIN_RESUMABLE_BYTES ? result.size : undefined);
}

interface Arrived {
  readonly size: number;
  /** What its checksums have to be. */
  readonly expected: readonly Checksum[];
  /** What they are, in the same order; unknown of a file that was continued. */
  readonly found?: readonly string[];
}

async function attempt(requested: Download, context: DownloadContext, reportProgress: () => void): Promise<Arrived> {
  const { sources, limits, budget, signal, record } = context;
  const validator = await record.readValidator();
  const present = validator === undefined ? 0 : ((await sizeOf(record.partPath)) ?? 0);
  const opened = await sources.open({
    href: requested.href,
    signal,
    ...(requested.from !== undefined && { from: requested.from }),
    ...(present > 0 && validator !== undefined && { start: present, validator }),
  });
  const where = displayUrl(requested.href);
  let file: FileHandle | undefined;
  try {
    if (opened.total !== undefined && opened.encoding === undefined) {
      checkClaim(requested, opened.total);
      budget.file(requested.path, where).expect(opened.total);
    }
    if (opened.start > 0 && opened.validator !== undefined && opened.validator !== validator) {
      // A source that does not honour If-Range: the next attempt begins anew.
      await record.writeValidator(undefined);
      throw new StagingError("source", where, "changed while it was being read", { temporary: true });
    }
    const { total = Number.POSITIVE_INFINITY, encoding, start } = opened;
    if (total <= AT_ONCE && encoding === undefined && start === 0) {
      return await receiveAtOnce(opened, requested, context);
    }
    file = await open(record.partPath, opened.start === 0 ? "w" : "a");
    const isResumable = encoding === undefined && total > MIN_RESUMABLE_BYTES;
    await record.writeValidator(isResumable ? opened.validator : undefined);
    const expected = findExpected(requested, opened);
    const checksums = opened.start === 0 ? expected.map(({ algorithm }) => startChecksum(algorithm)) : [];
    const size = await write(opened, file, {
      checksums,
      where,
      limits,
      signal,
      reportProgress,
      setSize: budget.file(requested.path, where).set,
    });
    return { size, expected, ...(opened.start === 0 && { found: checksums.map((checksum) => checksum.finish()) }) };
  } finally {
    discard(opened.body);
    await file?.close();
  }
}

/** What the checksums of a file have to be. */
const findExpected = (requested: Download, { checksum, encoding }: OpenedSource): readonly Checksum[] => [
  ...(requested.checksum === undefined ? [] : [requested.checksum]),
  ...(checksum === undefined || encoding !== undefined ? [] : [checksum]),
];

async function receiveAtOnce(opened: OpenedSource, requested: Download, context: DownloadContext): Promise<Arrived> {
  const { limits, signal, record, budget } = context;
  const where = displayUrl(requested.href);
  const chunks: Buffer[] = [];
  await readBody(opened, { stallSeconds: limits.stallSeconds, signal }, (chunk) => {
    chunks.push(chunk);
    return undefined;
  });
  const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
  budget.file(requested.path, where).set(bytes.length);
  await record.writeValidator(undefined);
  try {
    writeFileSync(record.partPath, bytes);
  } catch (error) {
    throw toDiskFailure(error, where);
  }
  const expected = findExpected(requested, opened);
  return { size: bytes.length, expected, found: expected.map(({ algorithm }) => checksumOf(algorithm, bytes)) };
}

interface WriteContext {
  readonly checksums: readonly RunningChecksum[];
  readonly where: string;
  readonly limits: StageInLimits;
  readonly setSize: (bytes: number) => void;
  readonly signal: AbortSignal;
  readonly reportProgress: () => void;
}

/** Appends the body in large blocks, and reads on while one is on its way to the disk; the file's size at its end. */
async function write(
  opened: OpenedSource,
  file: FileHandle,
  { checksums, where, limits, setSize, signal, reportProgress }: WriteContext,
): Promise<number> {
  let [size, waiting, progress] = [opened.start, 0, 0];
  let chunks: Buffer[] = [];
  let writing: Promise<void> = Promise.resolve();
  /** The write that was before: a source that is faster than the disk waits for it. */
  const flush = (): Promise<void> => {
    const [block, before] = [chunks, writing];
    [chunks, waiting] = [[], 0];
    writing = writeAfter(before, block);
    // The failure is met by the next wait for it, also when that comes late.
    writing.catch(() => undefined);
    return before;
  };
  const writeAfter = async (before: Promise<void>, block: readonly Buffer[]): Promise<void> => {
    await before;
    await writeAll(file, block).catch((error: unknown) => {
      throw toDiskFailure(error, where);
    });
    block.forEach(detachChunk);
  };
  setSize(size);
  await readBody(opened, { stallSeconds: limits.stallSeconds, signal }, (chunk) => {
    size += chunk.length;
    setSize(size);
    for (const checksum of checksums) {
      checksum.update(chunk);
    }
    chunks.push(chunk);
    waiting += chunk.length;
    progress += chunk.length;
    if (progress >= MIN_RESUMABLE_BYTES) {
      reportProgress();
      progress = 0;
    }
    return waiting >= BLOCK ? flush() : undefined;
  });
  if (waiting > 0) {
    void flush();
  }
  await writing;
  return size;
}

/** A disk that is nearly full takes a part of a block without an error; the rest then meets it. */
async function writeAll(file: FileHandle, block: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await file.writev(block);
  if (bytesWritten < block.reduce((sum, { length }) => sum + length, 0)) {
    await file.appendFile(Buffer.concat(block).subarray(bytesWritten));
  }
}

function checkClaim({ size, href }: Download, total: number): void {
  if (size !== undefined && size !== total) {
    throw new StagingError("source", displayUrl(href), `has ${total} bytes; its metadata says ${size} (file:size)`);
  }
}

/** A file that is not what it should be is thrown away, so that another try starts anew. */
async function verify(requested: Download, path: string, { size, expected, found: known }: Arrived): Promise<void> {
  try {
    checkClaim(requested, size);
    const found = known ?? (await checksumFile(path, expected));
    for (const [index, checksum] of expected.entries()) {
      const { algorithm, hex } = checksum;
      if (found[index] !== hex) {
        const source = hex === requested.checksum?.hex ? "its metadata says" : "its source says";
        throw new StagingError(
          "source",
          displayUrl(requested.href),
          `arrived with the ${algorithm} checksum ${found[index]}; ${source} ${hex}${isDigest(checksum) ? ` (${toMultihash(checksum)})` : ""}`,
        );
      }
    }
  } catch (error) {
    await truncate(path);
    throw error;
  }
}

async function checksumFile(path: string, expected: readonly Checksum[]): Promise<readonly string[]> {
  const checksums = expected.map(({ algorithm }) => startChecksum(algorithm));
  for await (const chunk of createReadStream(path, { highWaterMark: BLOCK }) as AsyncIterable<Buffer>) {
    for (const checksum of checksums) {
      checksum.update(chunk);
    }
  }
  return checksums.map((checksum) => checksum.finish());
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}

function toDiskFailure(error: unknown, where: string): StagingError {
  const { code } = error as NodeJS.ErrnoException;
  const problem =
    code === "ENOSPC" || code === "EDQUOT"
      ? "does not fit on the disk of the processing service"
      : `cannot be written (${code})`;
  return new StagingError("limit", where, problem, { cause: error });
}
