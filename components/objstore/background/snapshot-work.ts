/** What is done with snapshots: one thing at a time, as each of them takes a while and holds back the deletion of content. */
export interface SnapshotJob {
  readonly id: number;
  readonly kind: "create" | "restore";
  readonly snapshot: string | null;
  readonly started: string;
  readonly finished: string | null;
  readonly state: "running" | "done" | "failed";
  readonly error: string | null;
  /** What came of it: the snapshot, or what was restored. */
  readonly result: unknown;
}

/** Runs work on snapshots in the background and tells how the last of it went. */
export class SnapshotWork {
  readonly #now: () => number;
  readonly #onError: (error: unknown) => void;
  #last: SnapshotJob | undefined;
  #running: Promise<void> | undefined;

  constructor(now: () => number, onError: (error: unknown) => void) {
    this.#now = now;
    this.#onError = onError;
  }

  get last(): SnapshotJob | undefined {
    return this.#last;
  }

  /** Begins work; undefined while other work is running. */
  start(kind: SnapshotJob["kind"], snapshot: string | null, work: () => Promise<unknown>): SnapshotJob | undefined {
    if (this.#running !== undefined) {
      return undefined;
    }
    const toTime = () => new Date(this.#now()).toISOString();
    const begun: SnapshotJob = {
      id: (this.#last?.id ?? 0) + 1,
      kind,
      snapshot,
      started: toTime(),
      finished: null,
      state: "running",
      error: null,
      result: null,
    };
    this.#last = begun;
    this.#running = work()
      .then(
        (result) => {
          this.#last = { ...begun, state: "done", finished: toTime(), result };
        },
        (error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          this.#last = { ...begun, state: "failed", finished: toTime(), error: message };
          this.#onError(error);
        },
      )
      .finally(() => {
        this.#running = undefined;
      });
    return begun;
  }

  /** Runs what the schedule asks for, unless other work is running; a failure is told, and it comes again. */
  runUnlisted(work: () => Promise<void>): void {
    this.#running ??= work()
      .catch(this.#onError)
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when nothing is running. */
  async settle(): Promise<void> {
    await this.#running;
  }
}
