import type { ContentFiles } from "./content-files.ts";
import type { CrashPoints } from "../crash-points.ts";
import type { IndexDatabase } from "../index/index-database.ts";

const BATCH = 200;

/**
 * Deletes content files that the index has given up. The row goes only after the file, so a crash in between leaves a row
 * that the next run finds again, never a file that nobody knows.
 */
export class GarbageCollector {
  readonly #index: IndexDatabase;
  readonly #files: ContentFiles;
  readonly #crash: CrashPoints;
  readonly #onError: (error: unknown) => void;
  #running: Promise<void> | undefined;
  #again = false;
  /** Who wants nothing to be deleted. */
  #pauses = 0;
  /** Whether there is garbage that somebody still reads. */
  #isWaiting = false;

  constructor(deps: {
    readonly index: IndexDatabase;
    readonly files: ContentFiles;
    readonly crash: CrashPoints;
    readonly onError: (error: unknown) => void;
  }) {
    this.#index = deps.index;
    this.#files = deps.files;
    this.#crash = deps.crash;
    this.#onError = deps.onError;
    deps.files.onRelease(() => {
      if (this.#isWaiting) {
        this.nudge();
      }
    });
  }

  /** Something may have become garbage: look soon. */
  nudge(): void {
    this.#again = true;
    this.#running ??= this.#run()
      .catch(this.#onError)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Deletes nothing until the function it gives is called; resolves once nothing is being deleted. */
  async pause(): Promise<() => void> {
    this.#pauses += 1;
    while (this.#running !== undefined) {
      await this.#running;
    }
    let isPaused = true;
    return () => {
      if (isPaused) {
        isPaused = false;
        this.#pauses -= 1;
        this.nudge();
      }
    };
  }

  /** Resolves when all garbage known now is gone, but for what somebody reads. */
  async drain(): Promise<void> {
    this.nudge();
    while (this.#running !== undefined) {
      await this.#running;
    }
  }

  async #run(): Promise<void> {
    while (this.#again && this.#pauses === 0) {
      this.#again = false;
      const found = this.#index.all<{ id: string }>(
        "select id from files where garbage = 1 limit ?",
        BATCH + this.#files.heldCount,
      );
      const rows = found.filter(({ id }) => !this.#files.isHeld(id));
      this.#isWaiting = rows.length < found.length;
      if (rows.length > 0) {
        await Promise.all(rows.map(({ id }) => this.#files.remove(id)));
        await this.#crash.reach("garbage-unlinked");
        await this.#index.mutate(() => {
          for (const { id } of rows) {
            this.#index.run("delete from files where id = ?", id);
          }
        });
        this.#again = true;
      }
    }
  }
}
