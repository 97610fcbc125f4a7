export { ArchiveWriter } from "./archive-writer.ts";
export { type ZipFile, writeZip } from "./zip.ts";
export { ArchiveError, type ArchiveEntry, readEntries, unpackEntry } from "./read-entries.ts";
