// Each component's login opens its own schema and nothing else, also where an earlier version made everything as one role.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { openPool } from "@swath/postgres/pool";
import { type RoleToMake, makeDatabaseRoles, parseRoles } from "@swath/postgres/roles";
import { type TestServer, startTestServer } from "@swath/postgres/server";
import pg from "pg";

import { components } from "../cli/platform/components.ts";

/** Folder of a component's migrations of the deployment's database; the object storage has a file of its own. */
const migrationsOf = (component: string): string => join(import.meta.dirname, "../components", component, "migrations");
const withSchema = components.flatMap(({ name, databaseSchema: schema }) =>
  schema === undefined ? [] : [{ name, schema, migrations: migrationsOf(name) }],
);
/** The others have a role without tables: the portal reads the audit trail by it, the object storage writes to it. */
const withTables = withSchema.filter(({ name, migrations }) => name !== "objstore" && existsSync(migrations));
const roles: readonly RoleToMake[] = withSchema.map(({ schema }) => ({
  user: `swath_${schema}`,
  schema,
  password: `of ${schema} '"@%`,
}));
let server: TestServer;
const closing: (() => Promise<unknown>)[] = [];

before(async () => {
  server = await startTestServer();
});
after(async () => {
  await Promise.allSettled(closing.map((close) => close()));
  await server.close();
});

const urlAs = (user: string, password: string, database = "postgres") =>
  server.url
    .replace("swath:test@", `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`)
    .replace("/postgres?", `/${database}?`);
async function logIn(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  closing.push(() => client.end());
  return client;
}
const migrateAll = async (urlOf: (schema: string) => string) => {
  for (const { schema, migrations } of withTables) {
    const { close } = await openPool({ url: urlOf(schema), schema, migrations, onError: () => {} });
    await close();
  }
};
const listTables = async (client: pg.Client) => {
  const { rows } = await client.query<{ schema: string; name: string }>(
    `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'S') and n.nspname = any($1)`,
    [roles.map(({ schema }) => schema)],
  );
  return rows;
};

test("every component with tables in the database has a schema of its own", () => {
  const withMigrations = components
    .map(({ name }) => name)
    .filter((name) => name !== "objstore" && existsSync(migrationsOf(name)));
  assert.deepEqual(withTables.map(({ name }) => name).toSorted(), withMigrations.toSorted());
  assert.equal(new Set(withSchema.map(({ schema }) => schema)).size, withSchema.length);
});

test("what one role made before belongs to each component's own afterwards; none reads what is another's", async () => {
  await migrateAll(() => server.url);
  await makeDatabaseRoles({ url: server.url, roles });
  await makeDatabaseRoles({ url: server.url, roles });
  // By their own roles: nothing left to do, and nothing that takes a superuser.
  await migrateAll((schema) => urlAs(`swath_${schema}`, `of ${schema} '"@%`));
  const owner = await logIn(server.url);
  const tables = await listTables(owner);
  assert.ok(tables.length > 50, `${tables.length} tables`);
  for (const { user, schema, password } of roles) {
    const client = await logIn(urlAs(user, password));
    let own = 0;
    for (const table of tables) {
      const select = client.query(`select * from ${table.schema}.${client.escapeIdentifier(table.name)} limit 1`);
      if (table.schema === schema) {
        await select;
        own += 1;
      } else {
        await assert.rejects(select, /permission denied/, `${user} reads ${table.schema}.${table.name}`);
      }
    }
    assert.equal(
      own > 0,
      withTables.some((component) => component.schema === schema),
      schema,
    );
    const other = roles.find((role) => role.schema !== schema);
    for (const statement of [
      "create schema mine",
      "create table public.mine ()",
      `create table ${other?.schema}.mine ()`,
      `set role ${other?.user}`,
      "set role swath",
      "select rolpassword from pg_authid",
      "alter role swath password 'x'",
      "create role mine",
      "copy (select 1) to program 'true'",
      "select pg_read_file('PG_VERSION')",
      `drop schema ${other?.schema} cascade`,
    ]) {
      await assert.rejects(client.query(statement), /permission denied|must be|may not|Only roles/, statement);
    }
    await client.query(`begin; create table ${schema}.mine (); drop table ${schema}.mine; rollback`);
  }
});

test("a first deployment is made by the roles themselves; a changed password holds at once", async () => {
  const owner = await logIn(server.url);
  await owner.query("create database fresh");
  const fresh = roles.map((role) => ({ ...role, user: role.user.replace("swath_", "fresh_") }));
  const urlOf = (schema: string) => urlAs(`fresh_${schema}`, `of ${schema} '"@%`, "fresh");
  await makeDatabaseRoles({ url: urlAs("swath", "test", "fresh"), roles: fresh });
  await migrateAll(urlOf);
  const changed = fresh.map((role) => ({ ...role, password: `new ${role.schema}` }));
  await makeDatabaseRoles({ url: urlAs("swath", "test", "fresh"), roles: changed });
  const [first] = changed;
  await logIn(urlAs(first?.user ?? "", first?.password ?? "", "fresh"));
  await assert.rejects(logIn(urlOf(first?.schema ?? "")), /password authentication failed/);
});

test("a role with CREATEROLE is enough; one without is told what to do", async () => {
  const owner = await logIn(server.url);
  await owner.query("create role plain login password 'plain'");
  await owner.query("create database theirs owner plain");
  const url = urlAs("plain", "plain", "theirs");
  await migrateAll(() => url);
  const theirs = roles.map((role) => ({ ...role, user: role.user.replace("swath_", "theirs_") }));
  await assert.rejects(
    makeDatabaseRoles({ url, roles: theirs }),
    /role plain of DATABASE_URL may not make roles[^]*alter role plain createrole[^]*DATABASE_ROLES=shared/,
  );
  await owner.query("alter role plain createrole");
  await makeDatabaseRoles({ url, roles: theirs });
  await makeDatabaseRoles({ url, roles: theirs });
  await migrateAll((schema) => urlAs(`theirs_${schema}`, `of ${schema} '"@%`, "theirs"));
  const [one, two] = theirs;
  const client = await logIn(urlAs(one?.user ?? "", one?.password ?? "", "theirs"));
  await assert.rejects(client.query(`select * from ${two?.schema}.migrations`), /permission denied/);
});

test("a service waits for its role where everything starts at once", async () => {
  const role = { user: "swath_late", schema: "late", password: "late" };
  const [first] = withSchema;
  const reasons: (string | undefined)[] = [];
  const opening = openPool({
    url: urlAs(role.user, role.password),
    schema: "late",
    migrations: first?.migrations ?? "",
    onError: () => {},
    onUnavailable: (reason) => {
      reasons.push(reason);
      if (reasons.length === 1) {
        void makeDatabaseRoles({ url: server.url, roles: [role] });
      }
    },
  }).catch((error: unknown) => error);
  const opened = await opening;
  assert.match(reasons[0] ?? "", /password authentication failed/);
  // Its migrations name another schema; what counts is that it came in.
  assert.doesNotMatch(String(opened), /password authentication/);
  if (opened !== null && typeof opened === "object" && "close" in opened) {
    await (opened.close as () => Promise<void>)();
  }
});

test("passwords come from the variables that the list names", () => {
  const json = JSON.stringify([{ user: "a_b", schema: "b", passwordEnv: "PASSWORD_B" }]);
  assert.deepEqual(parseRoles(json, { PASSWORD_B: "x" }), [{ user: "a_b", schema: "b", password: "x" }]);
  assert.throws(() => parseRoles(json, {}), /PASSWORD_B/);
});
