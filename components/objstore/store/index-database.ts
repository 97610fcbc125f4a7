import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

import type { CrashPoints } from "./crash-points.ts";
import { Checkpointer } from "./checkpointer.ts";
import { migrateIndex } from "./migrate-index.ts";
import { syncDirectory } from "./sync-directory.ts";

const CHECKPOINT_AT_BYTES = 8 << 20;

/** Longest that a commit waits for changes that are likely to come, in milliseconds. */
const PATIENCE = 3;

interface Batch {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  changes: number;
  timer?: NodeJS.Timeout;
}

/**
 * The index: one SQLite database in write-ahead mode, written by this process alone.
 *
 * Reads are ordinary synchronous queries (about ten microseconds). Writes go through `mutate`: all changes that arrive
 * while the disk is busy share one transaction and one fsync of the log, which happens off the event loop; a change is
 * acknowledged only after that fsync. `synchronous=full` would give the same safety but block every other request for
 * the duration of each fsync.
 */
export class IndexDatabase {
  readonly path: string;
  /** Grows with every change that is undone: what was read since that change began may be of it. */
  undone = 0;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #crash: CrashPoints;
  readonly #checkpointer: Checkpointer;
  #log: FileHandle | undefined;
  #open: Batch | undefined;
  #syncing: Promise<void> | undefined;
  #batches = 0;
  /** Changes that are likely to come together, and how long a sync takes in milliseconds. */
  #expected = 1;
  #syncTime = 0;
  #checkpointDue = false;
  #failure: Error | undefined;
  #onFailure: (error: Error) => void;

  private constructor(directory: string, crash: CrashPoints, onFailure: (error: Error) => void) {
    this.path = join(directory, "index.db");
    this.#crash = crash;
    this.#onFailure = onFailure;
    this.#database = new DatabaseSync(this.path);
    // Checkpoints are ours to time; the commit's own fsync is done by #sync.
    this.#database.exec(`
      pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 0;
      pragma journal_size_limit = 67108864; pragma cache_size = -16384; pragma foreign_keys = off;
    `);
    migrateIndex(this.#database);
    this.#checkpointer = new Checkpointer(this.path);
  }

  /** `onFailure` is called when the disk refuses an fsync: nothing after that may be believed, so the process must end. */
  static async open(directory: string, crash: CrashPoints, onFailure: (error: Error) => void): Promise<IndexDatabase> {
    const index = new IndexDatabase(directory, crash, onFailure);
    index.#log = await open(`${index.path}-wal`, "r+");
    await index.#log.sync();
    await syncDirectory(directory);
    return index;
  }

  /** First row of a query, or undefined. */
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  /** Rows one by one. The caller must finish or leave the loop before it awaits anything. */
  iterate<Row>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
    // A statement of its own: two scans of one kind may be open at once.
    return this.#database.prepare(sql).iterate(...values) as Iterable<Row>;
  }

  /** Runs a statement inside `mutate`; gives back the number of changed rows and the row id of an insert. */
  run(sql: string, ...values: SQLInputValue[]): { changes: number; id: number } {
    const { changes, lastInsertRowid } = this.#prepare(sql).run(...values);
    return { changes: Number(changes), id: Number(lastInsertRowid) };
  }

  /**
   * Applies a change and resolves with its result once it is on the disk. `change` runs synchronously and alone; when it
   * throws, nothing of it remains and the promise rejects with what it threw.
   */
  async mutate<T>(change: () => T): Promise<T> {
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
    const batch = this.#begin();
    batch.changes += 1;
    let result: T;
    this.#prepare("savepoint change").run();
    try {
      result = change();
      this.#prepare("release change").run();
    } catch (error) {
      this.undone += 1;
      if (this.#database.isTransaction) {
        this.#database.exec("rollback to change; release change");
      } else {
        // A full disk or an I/O error has undone the whole transaction, and what others changed in it.
        this.#open = undefined;
        clearTimeout(batch.timer);
        batch.reject(new Error("The index could not be written.", { cause: error }));
      }
      throw error;
    }
    if (batch.timer !== undefined && batch.changes >= this.#expected) {
      clearTimeout(batch.timer);
      setImmediate(() => this.#commit(batch));
    }
    await this.#crash.reach("index-applied");
    await batch.promise;
    await this.#crash.reach("index-durable");
    return result;
  }

  async close(): Promise<void> {
    while (this.#open !== undefined || this.#syncing !== undefined) {
      await (this.#open?.promise ?? this.#syncing);
    }
    await this.#checkpointer.close();
    await this.#log?.close();
    this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #begin(): Batch {
    if (this.#open === undefined) {
      this.#database.exec("begin immediate");
      this.#open = { ...Promise.withResolvers<void>(), changes: 0 };
      // A batch that nobody awaits any more must not end the process.
      this.#open.promise.catch(() => {});
      if (this.#syncing === undefined) {
        this.#schedule(this.#open);
      }
    }
    return this.#open;
  }

  /**
   * Commits a batch as soon as as many changes are in it as were under way lately. Clients whose changes were acknowledged
   * together come back together: committing the first of them alone would make all others wait for two syncs.
   */
  #schedule(batch: Batch): void {
    const patience = Math.min(this.#syncTime / 3, PATIENCE);
    if (batch.changes >= this.#expected || patience < 1) {
      setImmediate(() => this.#commit(batch));
    } else {
      batch.timer = setTimeout(() => this.#commit(batch), patience);
    }
  }

  #commit(batch: Batch): void {
    if (batch !== this.#open) {
      return;
    }
    this.#open = undefined;
    try {
      this.#database.exec("commit");
      if (this.#checkpointDue) {
        // The worker has copied most of the log; the small rest is done between two transactions, so that the log starts over.
        this.#checkpointDue = false;
        this.#database.exec("pragma wal_checkpoint(passive)");
      }
    } catch (error) {
      if (this.#database.isTransaction) {
        this.#database.exec("rollback");
      }
      this.undone += 1;
      batch.reject(new Error("The index could not be written.", { cause: error }));
      return;
    }
    const started = performance.now();
    this.#syncing = this.#sync()
      .then(
        () => batch.resolve(),
        (error: unknown) => {
          this.#failure = new Error("The disk refused to keep the index; stopping.", { cause: error });
          batch.reject(this.#failure);
          this.#onFailure(this.#failure);
        },
      )
      .finally(() => {
        this.#syncing = undefined;
        this.#syncTime = (this.#syncTime + performance.now() - started) / 2;
        this.#expected = batch.changes + (this.#open?.changes ?? 0);
        if (this.#open !== undefined) {
          this.#schedule(this.#open);
        }
      });
  }

  async #sync(): Promise<void> {
    await this.#crash.reach("index-committed");
    await this.#log?.datasync();
    this.#batches += 1;
    if (this.#log !== undefined && this.#batches % 16 === 0) {
      const { size } = await this.#log.stat();
      if (size > CHECKPOINT_AT_BYTES) {
        this.#checkpointer.start(() => {
          this.#checkpointDue = true;
        });
      }
    }
  }
}
