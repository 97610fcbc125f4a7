/** A file with its place below what was dropped or chosen: `photos/a.png`. */
export interface PlacedFile {
  readonly path: string;
  readonly file: File;
}

/** The files of a drop, those inside of folders too. Has to be called while the drop is handled. */
export function readDrop(transfer: DataTransfer): Promise<readonly PlacedFile[]> {
  const entries = [...transfer.items].flatMap((item) => {
    const entry = item.kind === "file" ? item.webkitGetAsEntry() : null;
    return entry === null ? [] : [entry];
  });
  return Promise.all(entries.map((entry) => readEntry(entry, ""))).then((found) => found.flat());
}

/** The files of `<input type="file">`; one for folders knows where they were. */
export function readChosen(list: FileList): readonly PlacedFile[] {
  return [...list].map((file) => ({
    path: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath,
    file,
  }));
}

async function readEntry(entry: FileSystemEntry, above: string): Promise<readonly PlacedFile[]> {
  const path = `${above}${entry.name}`;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path, file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: PlacedFile[] = [];
  for (;;) {
    // A reader gives a hundred at a time, and none when it is through.
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) {
      return found;
    }
    for (const child of batch) {
      found.push(...(await readEntry(child, `${path}/`)));
    }
  }
}
