import pg from "pg";

const MARK = /^\s*\/\* prepared: ([a-z][a-z0-9_-]{0,62}) \*\//;
/** The plan does not fit the tables any more, or somebody between us and the server gave us another session. */
const LOST = new Set(["0A000", "26000", "42P05"]);

/**
 * A connection on which a statement that begins with a comment `prepared: NAME` is planned once and not every time. For statements
 * that are long and frequent: planning one may take longer than executing it. A name stands for one text.
 */
export class PreparedClient extends pg.Client {
  // oxlint-disable-next-line typescript/no-explicit-any -- one of many shapes of this function; the others are passed on
  override query(...given: any[]): any {
    const [text, values, callback] = given as [unknown, unknown, unknown];
    const name = typeof text === "string" && callback === undefined ? MARK.exec(text)?.[1] : undefined;
    if (name === undefined) {
      return (super.query as (...all: unknown[]) => unknown)(...given);
    }
    const statement = { text: text as string, values: (values ?? []) as unknown[] };
    return super.query({ ...statement, name }).catch((error: { readonly code?: string }) => {
      if (LOST.has(error.code ?? "")) {
        return super.query(statement);
      }
      throw error;
    });
  }
}
