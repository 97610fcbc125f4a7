import type { PlatformSecret } from "@swath/manifest";
import { hashPassword } from "@swath/postgres/roles";

import type { PlannedDatabase } from "../platform/plan-database.ts";
import type { Plan } from "../platform/plan.ts";
import { otherName } from "../targets/other-secret.ts";
import type { Change } from "./journal.ts";

const secondRole = (user: string): string => `${user}_rotating`;

/** A role whose password is to be changed. */
interface Changed {
  readonly user: string;
  readonly change: Change;
  /** Whoever owns the database, and not one component's part. */
  readonly isOwner: boolean;
}

/** The roles of the database that a rotation is about. */
export function findChangedRoles({ database }: Plan, changes: readonly Change[]): readonly Changed[] {
  const isOf = (change: Change, password: PlatformSecret): boolean =>
    change.manner === "second role" &&
    (password.kind === "generated" ? change.name === password.name : change.name === undefined);
  return changes.flatMap((change): readonly Changed[] => {
    if (database.kind === "deployed" && isOf(change, database.password)) {
      return [{ user: database.user, change, isOwner: true }];
    }
    const role = database.roles?.find(({ password }) => isOf(change, password));
    return role === undefined ? [] : [{ user: role.user, change, isOwner: false }];
  });
}

/** The plan whose services log in by the second roles, with the new passwords. */
export function planWithSecondRoles(plan: Plan, changed: readonly Changed[]): Plan {
  const { database } = plan;
  const turn = <Login extends { readonly user: string; readonly password: PlatformSecret }>(login: Login): Login => {
    const found = changed.find(({ user }) => user === login.user);
    if (found === undefined) {
      return login;
    }
    const { name, to } = found.change;
    const password: PlatformSecret =
      name === undefined ? { kind: "given", value: to } : { kind: "generated", name: otherName(name), bytes: 24 };
    return { ...login, user: secondRole(login.user), password };
  };
  const roles = database.roles?.map(turn);
  const turned: PlannedDatabase = {
    ...(database.kind === "deployed" ? turn(database) : database),
    ...(roles && { roles }),
  };
  return { ...plan, database: turned };
}

/** Where the database is, and who may change its roles. */
interface RoleOptions {
  /** Folder of the deployed server's socket. */
  readonly host: string;
  readonly database: PlannedDatabase;
  readonly readSecret: (secret: PlatformSecret) => Promise<string>;
}

/** Makes the second roles. What they make belongs to the first ones, as whom they act. */
export async function makeSecondRoles(options: RoleOptions, changed: readonly Changed[]): Promise<void> {
  await withDatabase(options, changed, async (run, { name, text }) => {
    for (const { user, change, isOwner } of changed) {
      const role = secondRole(user);
      const { rowCount } = await run("select 1 from pg_roles where rolname = $1", [role]);
      const rights = isOwner ? "superuser replication" : "nosuperuser";
      await run(
        `${rowCount ? "alter" : "create"} role ${name(role)} login ${rights} password ${text(hashPassword(change.to))}`,
      );
      if (!isOwner) {
        await run(`grant ${name(user)} to ${name(role)}`);
      }
      await run(`alter role ${name(role)} set role = ${text(user)}`);
    }
  });
}

/** Gives the first roles the new passwords. */
export async function changePasswords(options: RoleOptions, changed: readonly Changed[]): Promise<void> {
  await withDatabase(options, changed, async (run, { name, text }) => {
    for (const { user, change } of changed) {
      await run(`alter role ${name(user)} password ${text(hashPassword(change.to))}`);
    }
  });
}

/** Removes the second roles, whose clients have ended. */
export async function removeSecondRoles(options: RoleOptions, changed: readonly Changed[]): Promise<void> {
  await withDatabase(options, changed, async (run, { name }) => {
    for (const { user, isOwner } of changed) {
      const role = secondRole(user);
      const { rowCount } = await run("select 1 from pg_roles where rolname = $1", [role]);
      if (rowCount && isOwner) {
        await run(`reassign owned by ${name(role)} to ${name(user)}`);
        await run(`drop owned by ${name(role)}`);
      }
      if (rowCount) {
        await run(`drop role ${name(role)}`);
      }
    }
  });
}

type Run = (statement: string, values?: readonly string[]) => Promise<{ readonly rowCount: number | null }>;
interface Quote {
  readonly name: (text: string) => string;
  readonly text: (text: string) => string;
}

async function withDatabase(
  options: RoleOptions,
  changed: readonly Changed[],
  work: (run: Run, quote: Quote) => Promise<void>,
): Promise<void> {
  const client = await logIn(options, changed);
  try {
    await client.query("begin");
    await work((statement, values) => client.query(statement, values && [...values]), {
      name: (text) => client.escapeIdentifier(text),
      text: (text) => client.escapeLiteral(text),
    });
    await client.query("commit");
  } finally {
    await client.end();
  }
}

/** As whoever owns the database, whose own password may be one of those that change: with the old or the new one. */
async function logIn({ host, database, readSecret }: RoleOptions, changed: readonly Changed[]) {
  const { default: pg } = await import("pg");
  if (database.kind === "external") {
    const client = new pg.Client({ connectionString: await readSecret(database.url) });
    await client.connect();
    return client;
  }
  const { user } = database;
  const change = changed.find(({ isOwner }) => isOwner)?.change;
  const passwords = change === undefined ? [await readSecret(database.password)] : [change.from, change.to];
  for (const [index, password] of passwords.entries()) {
    const client = new pg.Client({ host, database: database.name, user, password });
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if ((error as { code?: string }).code !== "28P01" || index === passwords.length - 1) {
        throw error;
      }
    }
  }
  throw new Error("the database has no password to log in by");
}
