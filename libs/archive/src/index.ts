export { ArchiveWriter } from "./archive-writer.ts";
export { ArchiveError, type ArchiveEntry, readEntries, unpackEntry } from "./read-entries.ts";
