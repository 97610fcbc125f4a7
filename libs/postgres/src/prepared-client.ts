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
  override query(...provided: any[]): any {
    const send = super.query.bind(this) as (...all: unknown[]) => unknown;
    const [text, values, callback] = provided as [unknown, unknown, unknown];
    const name = typeof text === "string" && typeof values !== "function" ? MARK.exec(text)?.[1] : undefined;
    if (name === undefined) {
      return send(...provided);
    }
    const statement = { text: text as string, values: (values ?? []) as unknown[] };
    if (typeof callback !== "function") {
      return (send({ ...statement, name }) as Promise<unknown>).catch((error: unknown) => {
        if (isLost(error)) {
          return send(statement);
        }
        throw error;
      });
    }
    // As the pool asks.
    const response = callback as (error: Error | null | undefined, result: unknown) => void;
    return send({ ...statement, name }, (error: Error | null | undefined, result: unknown) => {
      if (isLost(error)) {
        send(statement, response);
      } else {
        response(error, result);
      }
    });
  }
}

const isLost = (error: unknown): boolean =>
  LOST.has((error as { readonly code?: string } | null | undefined)?.code ?? "");
