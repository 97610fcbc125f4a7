import type { PlannedDatabase, Plan } from "../platform/plan.ts";
import { otherName } from "../targets/other-secret.ts";
import type { Change } from "./journal.ts";

type Deployed = Extract<PlannedDatabase, { kind: "deployed" }>;

const secondRole = (user: string): string => `${user}_rotating`;

/** The plan whose services log in by the second role, with the new password. */
export function planWithSecondRole(plan: Plan, { name, to }: Change): Plan {
  const { database } = plan;
  if (database.kind === "external") {
    return plan;
  }
  const password: Deployed["password"] =
    name === undefined ? { kind: "given", value: to } : { kind: "generated", name: otherName(name), bytes: 24 };
  return { ...plan, database: { ...database, user: secondRole(database.user), password } };
}

interface RoleOptions {
  /** Folder of the server's socket. */
  readonly host: string;
  readonly database: Deployed;
}

/** Makes the second role. What it makes belongs to the first one, as whom it acts. */
export async function makeSecondRole(options: RoleOptions, { from, to }: Change): Promise<void> {
  const { user } = options.database;
  await withDatabase(options, { user, password: from }, async (run, { name, text }) => {
    const role = secondRole(user);
    const { rowCount } = await run("select 1 from pg_roles where rolname = $1", [role]);
    await run(`${rowCount ? "alter" : "create"} role ${name(role)} login superuser replication password ${text(to)}`);
    await run(`alter role ${name(role)} set role = ${text(user)}`);
  });
}

/** Gives the first role the new password. */
export async function changePassword(options: RoleOptions, { to }: Change): Promise<void> {
  const { user } = options.database;
  await withDatabase(options, { user: secondRole(user), password: to }, async (run, { name, text }) => {
    await run(`alter role ${name(user)} password ${text(to)}`);
  });
}

/** Removes the second role, whose clients have ended. */
export async function removeSecondRole(options: RoleOptions, { to }: Change): Promise<void> {
  const { user } = options.database;
  await withDatabase(options, { user, password: to }, async (run, { name }) => {
    const role = secondRole(user);
    const { rowCount } = await run("select 1 from pg_roles where rolname = $1", [role]);
    if (rowCount) {
      await run(`reassign owned by ${name(role)} to ${name(user)}`);
      await run(`drop owned by ${name(role)}`);
      await run(`drop role ${name(role)}`);
    }
  });
}

type Run = (statement: string, values?: readonly string[]) => Promise<{ readonly rowCount: number | null }>;
interface Quote {
  readonly name: (text: string) => string;
  readonly text: (text: string) => string;
}

async function withDatabase(
  { host, database }: RoleOptions,
  login: { readonly user: string; readonly password: string },
  work: (run: Run, quote: Quote) => Promise<void>,
): Promise<void> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ host, database: database.name, ...login });
  await client.connect();
  try {
    await client.query("begin");
    // No password in the server's log, whatever happens.
    await client.query("set local log_statement = none; set local log_min_error_statement = panic");
    await work((statement, values) => client.query(statement, values && [...values]), {
      name: (text) => client.escapeIdentifier(text),
      text: (text) => client.escapeLiteral(text),
    });
    await client.query("commit");
  } finally {
    await client.end();
  }
}
