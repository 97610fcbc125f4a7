import { open } from "node:fs/promises";

/** Makes the names inside a directory survive a power loss. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** One fsync of a directory for all who ask while another is under way. */
export class GroupedDirectorySync {
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Promise<void>>();

  /** Resolves when an fsync that began after this call has ended. */
  sync(path: string): Promise<void> {
    const running = this.#running.get(path);
    if (running === undefined) {
      return this.#start(path);
    }
    let next = this.#waiting.get(path);
    if (next === undefined) {
      next = running
        .catch(() => {})
        .then(() => {
          this.#waiting.delete(path);
          return this.#start(path);
        });
      this.#waiting.set(path, next);
    }
    return next;
  }

  #start(path: string): Promise<void> {
    const running = syncDirectory(path).finally(() => this.#running.delete(path));
    this.#running.set(path, running);
    return running;
  }
}
