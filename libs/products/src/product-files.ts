/** The files of a product, wherever they are. */
export interface ProductFiles {
  /** Name of the folder, or of the file where it is one alone. */
  readonly name: string;
  /** Paths from the folder, with `/`. Empty where the place cannot be listed: then what the metadata name is believed. */
  readonly paths: readonly string[];
  /** @throws what the place says, for a file that cannot be read */
  readonly read: (path: string) => Promise<Buffer>;
  /** Address of a file. */
  readonly href: (path: string) => string;
}
