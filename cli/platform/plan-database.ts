import type { Component, DatabaseRole, PlatformSecret, PlatformSettings, SecretEntry, Workload } from "@swath/manifest";

/** The PostgreSQL that `{ database: "url" }` means. */
export type PlannedDatabase = (
  | {
      readonly kind: "deployed";
      readonly workload: string;
      /** The superuser, whom only what looks after the database itself uses. */
      readonly user: string;
      readonly name: string;
      readonly password: PlatformSecret;
    }
  | { readonly kind: "external"; readonly url: PlatformSecret }
) & {
  /** Logins of components, each for its own schema. The plan of an earlier version has none. */
  readonly roles?: readonly DatabaseRole[];
};

/** The task that makes the roles. */
const ROLES_TASK = "database-roles";

export function planDatabase(settings: PlatformSettings, enabled: readonly Component[]): PlannedDatabase {
  const { variant, variables } = settings;
  if (variables.DATABASE_URL !== undefined) {
    const url = variables.DATABASE_URL;
    const isShared = variables.DATABASE_ROLES === "shared";
    return { kind: "external", url, roles: isShared ? [] : listRoles(databaseOf(url), enabled) };
  }
  return {
    kind: "deployed",
    workload: "postgres",
    user: "swath",
    name: "swath",
    // Variant B has no variable for it.
    password:
      variant === "A"
        ? variables.IDENTITY_POSTGRES_PASSWORD
        : { kind: "generated", name: "POSTGRES_PASSWORD", bytes: 24 },
    roles: listRoles("swath", enabled),
  };
}

/** Roles belong to a whole server, databases to a deployment: the name of the one is in that of the other. */
function listRoles(database: string, enabled: readonly Component[]): readonly DatabaseRole[] {
  return enabled.flatMap(({ name, databaseSchema: schema }) =>
    schema === undefined
      ? []
      : [
          {
            component: name,
            user: `${database.slice(0, 40)}_${schema}`,
            schema,
            password: { kind: "generated", name: `DATABASE_PASSWORD.${name}`, bytes: 24 },
          },
        ],
  );
}

/** Whoever is given the database's address waits for the database, and for the role by which it logs in. */
export function addDatabaseNeed(workload: Workload, database: PlannedDatabase): Workload {
  if (!usesDatabase(workload) || workload.startsWithoutDatabase === true) {
    return workload;
  }
  const added = [
    ...(database.kind === "deployed" ? [database.workload] : []),
    ...(roleOf(database, workload.component) === undefined ? [] : [ROLES_TASK]),
  ];
  return added.length === 0 ? workload : { ...workload, needs: [...new Set([...added, ...(workload.needs ?? [])])] };
}

export const usesDatabase = ({ env }: Pick<Workload, "env">): boolean =>
  Object.values(env).some((value) => typeof value === "object" && "database" in value);

export const roleOf = ({ roles }: PlannedDatabase, component: string): DatabaseRole | undefined =>
  roles?.find((role) => role.component === component);

/**
 * Connection string for a component: by its own role, where it has one.
 * @param place what follows the login in the address of the deployed database
 */
export function databaseUrl(database: PlannedDatabase, component: string, place: string): SecretEntry {
  const role = roleOf(database, component);
  if (database.kind === "external") {
    if (role === undefined) {
      return database.url;
    }
    const { scheme, rest } = splitUrl(database.url);
    return joinUrl(scheme, role, `@${rest}`);
  }
  return joinUrl("postgresql://", role ?? database, `@${place}`);
}

function joinUrl(
  scheme: string,
  { user, password }: { readonly user: string; readonly password: PlatformSecret },
  rest: string,
): SecretEntry {
  return {
    kind: "joined",
    parts: [
      `${scheme}${encodeURIComponent(user)}:`,
      // A generated secret has no character that a URL would have to escape.
      password.kind === "given" ? { kind: "given", value: encodeURIComponent(password.value) } : password,
      rest,
    ],
  };
}

interface SplitUrl {
  readonly scheme: string;
  readonly user: string;
  /** Without a login, there or in the query. */
  readonly rest: string;
}

/** A connection string may have no host, or several: it is no URL that the parser of URLs knows. */
function splitUrl(secret: PlatformSecret): SplitUrl {
  const url = secret.kind === "given" ? secret.value : "";
  const [, scheme = "postgresql://", login = "", address = ""] = /^(\w+:\/\/)(?:([^@/?#]*)@)?(.*)$/.exec(url) ?? [];
  const [place = "", ...query] = address.split("?");
  const parameters = new URLSearchParams(query.join("?"));
  const user = parameters.get("user") ?? decodeURIComponent(login.split(":", 1)[0] ?? "");
  parameters.delete("user");
  parameters.delete("password");
  return { scheme, user, rest: parameters.size === 0 ? place : `${place}?${parameters.toString()}` };
}

function databaseOf(secret: PlatformSecret): string {
  const { rest, user } = splitUrl(secret);
  const [, name = ""] = /^[^/?]*\/([^?]*)/.exec(rest) ?? [];
  return name === "" ? user : decodeURIComponent(name);
}
