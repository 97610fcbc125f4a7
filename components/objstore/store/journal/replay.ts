import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { JournalEnd } from "./journal-files.ts";
import type { JournalRecord } from "./journal-record.ts";

/** Statements of one transaction. */
const STEP = 5000;

/** Applies the records of a journal to the index; returns where they ended. */
export function replay(database: DatabaseSync, records: Generator<JournalRecord, JournalEnd>): JournalEnd {
  const prepared = new Map<string, StatementSync>();
  const prepare = (sql: string) => {
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      prepared.set(sql, statement);
    }
    return statement;
  };
  let open = 0;
  try {
    for (;;) {
      const { value, done } = records.next();
      if (done === true) {
        return value;
      }
      if (open === 0) {
        database.exec("begin immediate");
      }
      for (const [sql, ...values] of value.statements) {
        prepare(sql).run(...values);
      }
      prepare("update journal set batch = ?").run(value.batch);
      open += 1 + value.statements.length;
      if (open >= STEP) {
        database.exec("commit");
        open = 0;
      }
    }
  } finally {
    // What was applied before an error holds as well: batches are whole.
    if (database.isTransaction) {
      database.exec("commit");
    }
  }
}
