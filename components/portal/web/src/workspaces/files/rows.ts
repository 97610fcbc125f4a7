import type { FolderPage } from "../../api/files.ts";

/** A line of the file browser. */
export interface Row {
  readonly key: string;
  readonly name: string;
  readonly isFolder: boolean;
  readonly size?: number;
  /** ISO 8601. */
  readonly modified?: string;
}

/** Folders first, as people look for them. */
export function toRows(pages: readonly FolderPage[]): readonly Row[] {
  const folders = pages.flatMap((page) => page.folders.map((folder) => ({ ...folder, isFolder: true })));
  const files = pages.flatMap((page) => page.files.map((file) => ({ ...file, isFolder: false })));
  return [...new Map(folders.map((folder) => [folder.key, folder])).values(), ...files];
}
