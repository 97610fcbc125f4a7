/** One page of a folder: keys up to the next slash are folders. */
export interface FolderPage {
  readonly prefix: string;
  readonly folders: readonly { readonly key: string; readonly name: string }[];
  readonly files: readonly FileEntry[];
  /** Ask again with this as `after`. */
  readonly next?: string;
}

interface FileEntry {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  /** ISO 8601. */
  readonly modified: string;
}
