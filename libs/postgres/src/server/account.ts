import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** The operating-system account that PostgreSQL runs as. */
export interface DatabaseAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Accounts to fall back on when the operator is root, best first: PostgreSQL and its initdb refuse to run as root and need a named account. */
const CANDIDATES = ["swath", "postgres", "nobody"];

/**
 * The account to change to, or `undefined` when this process is not root and PostgreSQL runs as its own user.
 * @throws {Error} when the machine has none of the candidates
 */
export function findDatabaseAccount(
  uid: number = process.getuid?.() ?? 1,
  passwd = "/etc/passwd",
): DatabaseAccount | undefined {
  if (uid !== 0) {
    return undefined;
  }
  const accounts = readFileSync(passwd, "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([, , id]) => id !== "0");
  for (const candidate of CANDIDATES) {
    const found = accounts.find(([name]) => name === candidate);
    if (found !== undefined) {
      return { name: candidate, uid: Number(found[2]), gid: Number(found[3]) };
    }
  }
  throw new Error(
    `PostgreSQL does not run as root and none of the accounts ${CANDIDATES.join(", ")} exists; create one: useradd --system swath`,
  );
}

/** The first folder on the way down to `folder` that the account may not pass through, if there is one. */
export function findBarrier(folder: string, account: DatabaseAccount | undefined): string | undefined {
  if (account === undefined) {
    return undefined;
  }
  const ancestors: string[] = [];
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    ancestors.unshift(path);
  }
  return ancestors.find((path) => {
    const { mode, uid, gid } = statSync(path);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    return (mode & bit) === 0;
  });
}
