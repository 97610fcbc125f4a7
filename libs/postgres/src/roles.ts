import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { makeAuditTrail } from "./audit/make-audit-trail.ts";
import { isTransient } from "./is-passing.ts";
import type { OnUnavailable } from "./migrate.ts";
import { hashPassword } from "./scram.ts";

export { hashPassword };

/** A login that owns one schema and can reach nothing else. */
export interface RoleToMake {
  readonly user: string;
  readonly schema: string;
  readonly password: string;
}

interface MakeOptions {
  /** The database, as a superuser or a role with CREATEROLE that may create schemas. */
  readonly url: string;
  readonly roles: readonly RoleToMake[];
  readonly onUnavailable?: OnUnavailable;
}

const RETRY_MS = 1000;

/** Reads the list of roles, with their passwords from the variables that it names. */
export function parseRoles(json: string, env: NodeJS.ProcessEnv): readonly RoleToMake[] {
  const listed = JSON.parse(json) as readonly { user: string; schema: string; passwordEnv: string }[];
  return listed.map(({ user, schema, passwordEnv }) => {
    const password = env[passwordEnv];
    if (password === undefined || password === "") {
      throw new Error(`${passwordEnv}, the password of role ${user}, is not set`);
    }
    return { user, schema, password };
  });
}

/**
 * Makes each role with its password and its schema. What is in the schema already, made by an earlier version as another role, becomes
 * its own. Makes the audit trail that all may add to. Waits for a database that is away.
 * @throws {Error} saying what to do where the role of `url` may not make roles
 */
export async function makeDatabaseRoles({ url, roles, onUnavailable = () => {} }: MakeOptions): Promise<void> {
  const client = await connect(url, onUnavailable);
  try {
    const { rows } = await client.query<{ may: boolean; user: string; superuser: boolean; database: string }>(
      `select rolsuper or rolcreaterole as may, rolsuper as superuser, current_user as user, current_database() as database
       from pg_roles where rolname = current_user`,
    );
    const [owner] = rows;
    if (owner?.may !== true) {
      throw new Error(
        `role ${owner?.user} of DATABASE_URL may not make roles, so that services cannot have one each. Either: alter role ${owner?.user} createrole. Or let all share it, by DATABASE_ROLES=shared`,
      );
    }
    for (const role of roles) {
      await client.query("begin");
      try {
        await makeRole(client, role, owner);
        await client.query("commit");
      } catch (cause) {
        await client.query("rollback").catch(() => {});
        throw new Error(`role ${role.user}: ${(cause as Error).message}`, { cause });
      }
    }
    await makeAuditTrail(client, roles);
  } finally {
    await client.end().catch(() => {});
  }
}

interface Owner {
  readonly database: string;
  readonly superuser: boolean;
}

async function makeRole(client: pg.Client, role: RoleToMake, { database, superuser }: Owner): Promise<void> {
  const [user, schema, text] = [
    client.escapeIdentifier(role.user),
    client.escapeIdentifier(role.schema),
    client.escapeLiteral,
  ];
  // Two that do this at once would both find that there is none.
  await client.query("select pg_advisory_xact_lock(hashtext('database roles'))");
  await client.query("set local lock_timeout = '30s'");
  const { rows } = await client.query<{ superuser: boolean }>(
    "select rolsuper as superuser from pg_roles where rolname = $1",
    [role.user],
  );
  if (rows[0]?.superuser === true) {
    throw new Error("there is a superuser of that name; give it another name, or remove it");
  }
  // Only its hash goes to the server, so that no log holds the password.
  const password = `login password ${text(hashPassword(role.password))}`;
  await client.query(`${rows.length === 0 ? "create" : "alter"} role ${user} ${password}`);
  if (!superuser) {
    // Who is no superuser gives something to a role only as a member of it.
    await client.query(`grant ${user} to current_user`);
  }
  await client.query(`grant connect on database ${client.escapeIdentifier(database)} to ${user}`);
  await client.query(`create schema if not exists ${schema} authorization ${user}`);
  await takeOver(client, role);
  await client.query(`revoke all on schema ${schema} from public`);
}

/** Gives the schema and everything in it to the role. Indexes, owned sequences and partitions' indexes follow their tables. */
async function takeOver(client: pg.Client, { user, schema }: RoleToMake): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `with home as (select oid, nspowner from pg_namespace where nspname = $1),
          role as (select oid from pg_roles where rolname = $2)
     select format('alter schema %I owner to %I', $1::text, $2::text) as statement from home, role where nspowner <> role.oid
     union all
     select format('alter %s %s owner to %I',
         case c.relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view'
           when 'f' then 'foreign table' else 'table' end,
         format('%I.%I', $1::text, c.relname), $2::text)
       from home join pg_class c on c.relnamespace = home.oid, role
       where c.relkind in ('r', 'p', 'S', 'v', 'm', 'f') and c.relowner <> role.oid
         and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
           and d.refclassid = 'pg_class'::regclass and c.relkind = 'S')
     union all
     select format('alter routine %s owner to %I', p.oid::regprocedure, $2::text)
       from home join pg_proc p on p.pronamespace = home.oid, role
       where p.proowner <> role.oid
         and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
     union all
     select format('alter %s %s owner to %I', case t.typtype when 'd' then 'domain' else 'type' end,
         format('%I.%I', $1::text, t.typname), $2::text)
       from home join pg_type t on t.typnamespace = home.oid, role
       where t.typowner <> role.oid and (t.typtype in ('e', 'd', 'r')
         or (t.typtype = 'c' and (select relkind from pg_class where oid = t.typrelid) = 'c'))`,
    [schema, user],
  );
  for (const { statement } of rows) {
    await client.query(statement);
  }
}

async function connect(url: string, onUnavailable: OnUnavailable): Promise<pg.Client> {
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
    client.on("error", () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if (!isTransient(error as NodeJS.ErrnoException)) {
        throw error;
      }
      onUnavailable(`the database cannot be reached: ${(error as Error).message}`);
      await sleep(RETRY_MS);
    }
  }
}
