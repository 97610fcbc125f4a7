import { pipeline } from "node:stream/promises";
import type { Readable, Writable } from "node:stream";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";

import { ArchiveError, type ArchiveEntry, ArchiveWriter, readEntries } from "@swath/archive";

/**
 * A backup file: a tar archive, compressed with zstd, that begins with `swath-backup.json` and ends with `end.json`.
 *
 *     swath-backup.json            the header
 *     cluster/…                    settings, secrets and keys of the deployment, as the target keeps them
 *     volumes/<namespace>/<name>/… what each volume held
 *     end.json                     how many entries there were: a file without it is not whole
 */
const HEADER = "swath-backup.json";
const END = "end.json";
const FORMAT = 1;

export interface BackupHeader {
  readonly format: number;
  /** Version of the deployment tool that wrote it. */
  readonly version: string;
  /** Where it ran; the embedded cluster when left out. */
  readonly target?: "kubernetes";
  readonly cluster: string;
  readonly domain: string;
  readonly createdAt: string;
  /** `<namespace>/<name>` of the volumes that are in it. */
  readonly volumes: readonly string[];
  /** What is not in it, and why. */
  readonly leftOut: readonly { readonly what: string; readonly because: string }[];
}

/** Writes a backup; `fill` adds everything between header and end. */
export async function writeBackup(
  target: Writable,
  header: Omit<BackupHeader, "format">,
  fill: (archive: ArchiveWriter) => Promise<void>,
): Promise<void> {
  const archive = new ArchiveWriter();
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  const written = pipeline(archive.stream, compress, target);
  const fillAll = async () => {
    await archive.addText(HEADER, `${JSON.stringify({ format: FORMAT, ...header } satisfies BackupHeader, null, 1)}\n`);
    await fill(archive);
    await archive.addText(END, `${JSON.stringify({ entries: archive.entries - 1 })}\n`);
    archive.end();
  };
  const filled = fillAll().catch((error: unknown) => {
    archive.destroy(error as Error);
    throw error;
  });
  // Whoever fails first says why: a full disk ends the writing, a server that goes away the filling.
  await Promise.all([filled, written]);
}

/**
 * Reads a backup: the header first, then every entry but the first and the last.
 * @throws {ArchiveError} when the file is no backup, of a later format, damaged, or not whole; the latter only at its end
 */
export async function readBackup(
  source: Readable,
  take: { header: (header: BackupHeader) => void; entry: (entry: ArchiveEntry) => Promise<void> },
): Promise<void> {
  const decompress = createZstdDecompress();
  source.on("error", (error) => decompress.destroy(error));
  let entries = 0;
  let expected: number | undefined;
  let isFirst = true;
  try {
    for await (const entry of readEntries(source.pipe(decompress))) {
      if (isFirst) {
        isFirst = false;
        take.header(checkHeader(entry.name === HEADER ? await readText(entry) : undefined));
      } else if (entry.name === END) {
        expected = (JSON.parse(await readText(entry)) as { entries: number }).entries;
      } else {
        entries += 1;
        await take.entry(entry);
      }
    }
  } catch (error) {
    // Whoever reads an entry when the stream breaks sees the break first.
    throw decompress.errored === null
      ? error
      : new ArchiveError(`the backup is damaged or not whole (${decompress.errored.message}); use another one`);
  }
  if (isFirst || expected !== entries) {
    throw new ArchiveError("the backup is not whole: it ends before its end; use another one");
  }
}

function checkHeader(text: string | undefined): BackupHeader {
  const header = text === undefined ? undefined : (JSON.parse(text) as BackupHeader);
  if (header === undefined) {
    throw new ArchiveError("the file is no backup of Swath");
  }
  if (header.format !== FORMAT) {
    throw new ArchiveError(
      `the backup has format ${header.format}, this version (it was written by ${header.version}) reads format ${FORMAT}`,
    );
  }
  return header;
}

async function readText({ content, size, name }: ArchiveEntry): Promise<string> {
  if (size > 1 << 20) {
    throw new ArchiveError(`${name} is too large for a backup of Swath`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
