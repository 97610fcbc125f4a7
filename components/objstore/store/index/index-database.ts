import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

import { Checkpointer } from "./checkpointer.ts";
import type { CrashPoints } from "../crash-points.ts";
import { isDamage, markDamaged } from "./index-damage.ts";
import { IndexJournal, type JournalOptions } from "../journal/index-journal.ts";
import type { Statement } from "../journal/journal-record.ts";
import { migrateIndex } from "./migrate-index.ts";
import { catchUp } from "../journal/open-journal.ts";
import { syncDirectory } from "../sync-directory.ts";
import { takeTurns } from "../turns.ts";

const CHECKPOINT_AT_BYTES = 8 << 20;

/** Longest that a commit waits for changes that are likely to come, in milliseconds. */
const TIMEOUT = 3;

/** Changes that begin in one turn of the event loop after a checkpoint: some milliseconds. */
const ADMITTED = 4;

/** What is told of every batch of changes, to whoever keeps what was read. */
export interface BatchListener {
  readonly commit: () => void;
  readonly durable: () => void;
  /** A change, or the whole open batch, was undone. */
  readonly undo: () => void;
}

interface Batch {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  changes: number;
  readonly statements: Statement[];
  timer?: NodeJS.Timeout;
}

/**
 * The index: one SQLite database in write-ahead mode, written by this process alone.
 *
 * Reads are ordinary synchronous queries (about ten microseconds) and see what is on the disk: they have a connection of their own,
 * whose view moves on when a batch of changes has been forced there. Writes go through `mutate`: all changes that arrive
 * while the disk is busy share one transaction and one fsync, which happens off the event loop; a change is
 * acknowledged only after that fsync. It is the journal's, which holds the statements of each transaction: what a power cut takes
 * from the index itself is applied again at the next start. Queries inside a change see the changes before it, acknowledged or not.
 */
export class IndexDatabase {
  readonly path: string;
  /** Whether a change is being applied: queries are the change's own then. */
  isChanging = false;
  readonly #database: DatabaseSync;
  readonly #reader: DatabaseSync;
  readonly #writes = new Map<string, StatementSync>();
  readonly #reads = new Map<string, StatementSync>();
  readonly #listeners: BatchListener[] = [];
  readonly #crash: CrashPoints;
  readonly #checkpointer: Checkpointer;
  #log: FileHandle | undefined;
  readonly #journal: IndexJournal;
  #open: Batch | undefined;
  #syncing: Promise<void> | undefined;
  #batches = 0;
  /** Changes that are likely to come together, and how long a sync takes in milliseconds. */
  #expected = 1;
  #syncTime = 0;
  /** Set while the log is about to start over: changes wait. */
  #gate: PromiseWithResolvers<void> | undefined;
  /** Changes that wait for the gate, in their order. */
  readonly #waiting: (() => void)[] = [];
  #failure: Error | undefined;
  readonly #onFailure: (error: Error) => void;

  private constructor(
    directory: string,
    crash: CrashPoints,
    onFailure: (error: Error) => void,
    journal: JournalOptions,
  ) {
    this.path = join(directory, "index.db");
    this.#crash = crash;
    this.#onFailure = onFailure;
    this.#database = new DatabaseSync(this.path);
    // Takes effect in a new index only: what is deleted is given back to the disk.
    this.#database.exec("pragma auto_vacuum = incremental");
    // Checkpoints are ours to time; commits need no fsync of their own.
    this.#database.exec(`
      pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 0;
      pragma journal_size_limit = 67108864; pragma cache_size = -16384; pragma foreign_keys = off;
    `);
    migrateIndex(this.#database);
    this.#reader = new DatabaseSync(this.path, { readOnly: true });
    this.#reader.exec("pragma cache_size = -16384");
    this.#pin();
    this.#checkpointer = new Checkpointer(this.path);
    this.#journal = new IndexJournal(directory, crash, journal);
  }

  /** `onFailure` is called when the disk refuses an fsync: nothing after that may be believed, so the process must end. */
  static async open(
    directory: string,
    crash: CrashPoints,
    onFailure: (error: Error) => void,
    journal: JournalOptions = { onError: onFailure as (error: unknown) => void },
  ): Promise<IndexDatabase> {
    catchUp(directory);
    const index = new IndexDatabase(directory, crash, onFailure, journal);
    index.#log = await open(`${index.path}-wal`, "r+");
    await index.#journal.open(index.#database);
    await index.#log.sync();
    await syncDirectory(directory);
    index.#pin();
    return index;
  }

  /** Whether the disk refused an fsync: what was written last may be there or not. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  onBatch(listener: BatchListener): void {
    this.#listeners.push(listener);
  }

  /** First row of a query, or undefined. */
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#watch(() => this.#query(sql).get(...values) as Row | undefined);
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#watch(() => this.#query(sql).all(...values) as Row[]);
  }

  /** Runs a statement inside `mutate`; gives back the number of changed rows and the row id of an insert. */
  run(sql: string, ...values: SQLInputValue[]): { changes: number; id: number } {
    const { changes, lastInsertRowid } = this.#watch(() => this.#prepare(sql).run(...values));
    this.#open?.statements.push([sql, ...values]);
    return { changes: Number(changes), id: Number(lastInsertRowid) };
  }

  /**
   * Applies a change and resolves with its result once it is on the disk. `change` runs synchronously and alone; when it
   * throws, nothing of it remains and the promise rejects with what it threw.
   */
  async mutate<T>(change: () => T): Promise<T> {
    if (this.#gate !== undefined || this.#waiting.length > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
    if (this.isChanging) {
      throw new Error("a change was begun inside another");
    }
    const batch = this.#begin();
    batch.changes += 1;
    const before = batch.statements.length;
    let result: T;
    this.#prepare("savepoint change").run();
    this.isChanging = true;
    try {
      result = change();
      this.#prepare("release change").run();
    } catch (error) {
      this.#tell("undo");
      if (this.#database.isTransaction) {
        this.#database.exec("rollback to change; release change");
        batch.statements.length = before;
      } else {
        // A full disk or an I/O error has undone the whole transaction, and what others changed in it.
        this.#open = undefined;
        clearTimeout(batch.timer);
        batch.reject(new Error("The index could not be written.", { cause: error }));
        this.#goOn();
      }
      throw error;
    } finally {
      this.isChanging = false;
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
    for (;;) {
      const pending = this.#open?.promise ?? this.#syncing ?? this.#gate?.promise;
      if (pending !== undefined) {
        await pending;
      } else if (this.#waiting.length > 0) {
        await takeTurns();
      } else {
        break;
      }
    }
    await this.#journal.stopCopying();
    await this.#checkpointer.close();
    await this.#log?.close();
    this.#journal.close();
    this.#reader.close();
    this.#database.close();
  }

  #prepare(sql: string): StatementSync {
    return recall(this.#writes, this.#database, sql);
  }

  #query(sql: string): StatementSync {
    return this.isChanging ? this.#prepare(sql) : recall(this.#reads, this.#reader, sql);
  }

  /** Readers see what is committed now, until the next time. */
  #pin(): void {
    if (this.#reader.isTransaction) {
      recall(this.#reads, this.#reader, "commit").run();
    }
    recall(this.#reads, this.#reader, "begin").run();
    // A transaction gets its view of the index with its first query.
    recall(this.#reads, this.#reader, "select 1 from meta limit 1").get();
  }

  #tell(what: keyof BatchListener): void {
    for (const listener of this.#listeners) {
      listener[what]();
    }
  }

  /** A damaged index must not go on: what it says and what is written to it cannot be trusted. */
  #watch<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (isDamage(error) && this.#failure === undefined) {
        this.#failure = markDamaged(this.path, error);
        this.#onFailure(this.#failure);
      }
      throw error;
    }
  }

  #begin(): Batch {
    if (this.#open === undefined) {
      this.#database.exec("begin immediate");
      this.#open = { ...Promise.withResolvers<void>(), changes: 0, statements: [] };
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
    const timeout = Math.min(this.#syncTime / 3, TIMEOUT);
    if (batch.changes >= this.#expected || timeout < 1) {
      setImmediate(() => this.#commit(batch));
    } else {
      batch.timer = setTimeout(() => this.#commit(batch), timeout);
    }
  }

  #commit(batch: Batch): void {
    if (batch !== this.#open) {
      return;
    }
    this.#open = undefined;
    try {
      void this.#crash.reach("index-committing");
      this.#journal.keep(batch.statements, (number) => {
        if (number !== undefined) {
          this.#watch(() => this.#prepare("update journal set batch = ?").run(number));
        }
        return () => this.#watch(() => this.#prepare("commit").run());
      });
    } catch (error) {
      if (this.#database.isTransaction) {
        this.#database.exec("rollback");
      }
      this.#tell("undo");
      batch.reject(new Error("The index could not be written.", { cause: error }));
      this.#goOn();
      return;
    }
    this.#tell("commit");
    const started = performance.now();
    this.#syncing = this.#sync()
      .then(
        () => {
          this.#publish();
          batch.resolve();
        },
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
        this.#goOn();
      });
  }

  /** A batch is done with: the next may be committed. */
  #goOn(): void {
    if (this.#open !== undefined) {
      this.#schedule(this.#open);
    } else if (this.#gate !== undefined && this.#syncing === undefined) {
      this.#finishCheckpoint();
    }
  }

  /** What was committed is on the disk: shows it to readers. */
  #publish(): void {
    this.#pin();
    this.#tell("durable");
  }

  /**
   * Copies what is left of the log while no change is under way and readers see its end: only then the next change starts the log over.
   * The copying is the worker's, so that no request but those that change something waits for it.
   */
  #finishCheckpoint(): void {
    this.#checkpointer.start(() => {
      this.#pin();
      const gate = this.#gate;
      this.#gate = undefined;
      gate?.resolve();
      this.#admit();
    });
  }

  /** Lets in what waited for a checkpoint, a few changes in each turn: all at once would hold up every other request. */
  #admit(): void {
    if (this.#gate !== undefined || this.#waiting.length === 0) {
      return;
    }
    for (const enter of this.#waiting.splice(0, ADMITTED)) {
      enter();
    }
    setImmediate(() => this.#admit());
  }

  async #sync(): Promise<void> {
    await this.#crash.reach("index-committed");
    await this.#journal.sync();
    this.#batches += 1;
    // While a base is copied, its view keeps the log from starting over.
    if (this.#log === undefined || this.#batches % 16 !== 0 || this.#journal.isCopying) {
      return;
    }
    if (this.#journal.isLarge) {
      this.#journal.rebase(async () => {
        // The batches of the copy are on the disk in the journal, and in the index, before anything is forgotten.
        await this.mutate(() => {});
        await this.#log?.datasync();
      });
      return;
    }
    const { size } = await this.#log.stat();
    if (size > CHECKPOINT_AT_BYTES && this.#gate === undefined) {
      this.#checkpointer.start(() => {
        this.#gate = Promise.withResolvers();
        if (this.#open === undefined && this.#syncing === undefined) {
          this.#finishCheckpoint();
        }
      });
    }
  }
}

function recall(known: Map<string, StatementSync>, database: DatabaseSync, sql: string): StatementSync {
  let statement = known.get(sql);
  if (statement === undefined) {
    statement = database.prepare(sql);
    known.set(sql, statement);
  }
  return statement;
}
