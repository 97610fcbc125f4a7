import type { DatabaseSync } from "node:sqlite";

import type { CrashPoints } from "../crash-points.ts";
import { makeBase } from "./journal-base.ts";
import type { Statement } from "./journal-record.ts";
import type { Journal } from "./journal.ts";
import { openJournal } from "./open-journal.ts";

export interface JournalOptions {
  /** Bytes of the journal at which a new base is made, unless the last one is larger. */
  readonly bytes?: number | undefined;
  /** A base could not be made; it will be tried again. */
  readonly onError: (error: unknown) => void;
}

const BYTES = 192 << 20;
/** Segments of that. */
const SEGMENTS = 24;

/** The journal of the index in use: numbers its batches and makes new bases. */
export class IndexJournal {
  readonly #directory: string;
  readonly #crash: CrashPoints;
  readonly #onError: (error: unknown) => void;
  readonly #maximum: number;
  #journal!: Journal;
  #path = "";
  /** The last batch that was written. */
  #written = 0;
  #baseBytes = 0;
  /** Bytes of the journal before which a copy that failed is not tried again. */
  #retryAt = 0;
  #copying: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(directory: string, crash: CrashPoints, { bytes = BYTES, onError }: JournalOptions) {
    this.#directory = directory;
    this.#crash = crash;
    this.#onError = onError;
    this.#maximum = bytes;
  }

  async open(database: DatabaseSync): Promise<void> {
    const { journal, batch, baseBytes } = await openJournal({
      directory: this.#directory,
      database,
      now: Date.now(),
      segmentBytes: this.#maximum / SEGMENTS,
    });
    this.#journal = journal;
    this.#path = database.location() ?? "";
    this.#written = batch;
    this.#baseBytes = baseBytes;
  }

  /**
   * Writes the statements of a transaction before it is committed: the index never holds what the journal does not. `prepare` gets the
   * number of their batch, or undefined when nothing was changed, and gives the function that commits.
   */
  keep(statements: readonly Statement[], prepare: (batch: number | undefined) => () => void): void {
    if (statements.length === 0) {
      prepare(undefined)();
      return;
    }
    const batch = this.#written + 1;
    const commit = prepare(batch);
    this.#journal.append(batch, Date.now(), statements);
    try {
      void this.#crash.reach("journal-written");
      commit();
    } catch (error) {
      this.#journal.retract();
      throw error;
    }
    this.#written = batch;
  }

  sync(): Promise<void> {
    return this.#journal.sync();
  }

  get isCopying(): boolean {
    return this.#copying !== undefined;
  }

  /** Whether the journal is worth a new base. */
  get isLarge(): boolean {
    return this.#journal.bytesSinceBase > Math.max(this.#maximum, this.#baseBytes, this.#retryAt);
  }

  /** Makes a new base, in the background; the journal forgets what is older. `settle`: forces index and journal to the disk. */
  rebase(settle: () => Promise<void>): void {
    this.#copying = this.#rebase(settle)
      .catch((error: unknown) => {
        this.#retryAt = this.#journal.bytesSinceBase + this.#maximum;
        if (!this.#closing.signal.aborted) {
          this.#onError(error);
        }
      })
      .finally(() => {
        this.#copying = undefined;
      });
  }

  async stopCopying(): Promise<void> {
    this.#closing.abort();
    await this.#copying;
  }

  close(): void {
    this.#journal.close();
  }

  async #rebase(settle: () => Promise<void>): Promise<void> {
    const { batch, bytes } = await makeBase(this.#path, this.#directory, this.#closing.signal, async () => {
      await this.#crash.reach("base-copied");
      await settle();
    });
    await this.#crash.reach("base-named");
    this.#baseBytes = bytes;
    this.#retryAt = 0;
    await this.#journal.forget(batch);
  }
}
