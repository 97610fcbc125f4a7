import { constants, copyFile, link, open, rm } from "node:fs/promises";

/** How the files of a copy share their bytes with the store's. */
export type Sharing = "reflink" | "hard link";

/** What file systems say that cannot share blocks between files. */
const UNSUPPORTED = new Set(["ENOTSUP", "EOPNOTSUPP", "EINVAL", "ENOTTY", "ENOSYS", "EXDEV"]);

/** Gives files a second name that keeps their bytes: a file of its own that shares the blocks (reflink), else a hard link. */
export class FileCloner {
  readonly #reflink: (from: string, to: string) => Promise<void>;
  #sharing: Sharing = "reflink";

  /** `reflink`: replaced in tests. */
  constructor(reflink: (from: string, to: string) => Promise<void> = reflinkFile) {
    this.#reflink = reflink;
  }

  /** What the file system was found to offer; `reflink` before the first file. */
  get sharing(): Sharing {
    return this.#sharing;
  }

  /** The name itself is durable after an fsync of its directory. @throws with code ENOENT, EEXIST and others */
  async clone(from: string, to: string): Promise<void> {
    if (this.#sharing === "reflink") {
      try {
        await this.#reflink(from, to);
        return;
      } catch (error) {
        if (!UNSUPPORTED.has(String((error as NodeJS.ErrnoException).code))) {
          throw error;
        }
        await rm(to, { force: true });
        this.#sharing = "hard link";
      }
    }
    await link(from, to);
  }
}

async function reflinkFile(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
  const file = await open(to, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
