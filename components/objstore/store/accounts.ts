import type { EndedLogin } from "@swath/auth";
import { randomBytes } from "node:crypto";

import type { IndexDatabase } from "./index/index-database.ts";
import { ReadCache } from "./index/read-cache.ts";

export interface User {
  readonly name: string;
  readonly created: number;
  readonly enabled: 0 | 1;
  /** Policy document, JSON. */
  readonly policy: string;
  /** Empty: the deployment's own; else the user's name, whose buckets are nobody else's. */
  readonly account: string;
  readonly email: string | null;
  /** What the policy may give at most; null: no bound. */
  readonly boundary: string | null;
  /** Lasting id, which no other user had or will have. */
  readonly id: string | null;
  /** `/` or a path of IAM. */
  readonly path: string;
  /** Inline policies, JSON: name to document. */
  readonly policies: string | null;
  /** ARNs of attached policies, JSON. */
  readonly attached: string | null;
}

export interface UserSettings {
  readonly enabled: boolean;
  readonly account?: string | undefined;
  readonly email?: string | undefined;
  readonly boundary?: string | undefined;
}

export interface AccessKey {
  readonly id: string;
  readonly secret: string;
  readonly user: string;
  readonly title: string;
  readonly created: number;
  readonly enabled: 0 | 1;
  readonly policy: string | null;
  readonly expires: number | null;
  readonly token: string | null;
  readonly claims: string | null;
  /** A policy that must allow too, whatever else does; null: none. */
  readonly session_policy: string | null;
  /** Access key that logged in to get this temporary one. */
  readonly parent: string | null;
  /** Roles that an identity token had when it became this temporary key, JSON. */
  readonly roles: string | null;
}

export interface Role {
  readonly name: string;
  readonly created: number;
  readonly policy: string;
  /** Claim that a token must have (dots go deeper: `realm_access.roles`); null: every token of the issuer fits. */
  readonly claim: string | null;
  /** JSON list; the claim must be or hold one of them. */
  readonly claim_values: string | null;
}

export interface NewRole {
  readonly name: string;
  readonly policy: string;
  readonly claim: string | null;
  readonly values: readonly string[];
}

export interface NewAccessKey {
  readonly user: string;
  readonly title?: string | undefined;
  readonly policy?: string | undefined;
  readonly expires?: number | undefined;
  readonly token?: string | undefined;
  readonly claims?: string | undefined;
  readonly sessionPolicy?: string | undefined;
  readonly parent?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** Begins with AKIA for lasting keys, ASIA for temporary ones. */
  readonly kind: "AKIA" | "ASIA";
}

const ROOT_PROOF = "root-password";

/** Title of the temporary keys that are sessions of the console by the platform's login. */
export const LOGIN_TITLE = "console login";

/** Users, their keys, and the roles that holders of identity tokens may take. */
export class Accounts {
  readonly #index: IndexDatabase;
  readonly #now: () => number;
  /** Every request asks for its key and its user. */
  readonly #users: ReadCache<string, User | undefined>;
  readonly #keys: ReadCache<string, AccessKey | undefined>;

  constructor(index: IndexDatabase, now: () => number) {
    this.#index = index;
    this.#now = now;
    this.#users = new ReadCache(index, 1000);
    this.#keys = new ReadCache(index, 1000);
  }

  findUser(name: string): User | undefined {
    return this.#users.get(name, () => this.#index.get<User>("select * from users where name = ?", name));
  }

  findUserByEmail(email: string): User | undefined {
    return this.#index.get<User>("select * from users where email = ? order by name limit 1", email);
  }

  /** The user of a name, whose case does not count to IAM. */
  findUserByName(name: string): User | undefined {
    return this.findUser(name) ?? this.#index.get<User>("select * from users where lower(name) = lower(?)", name);
  }

  /** Users of an account in the order of their names. */
  listUsersOf(account: string): User[] {
    return this.#index.all<User>("select * from users where account = ? order by lower(name)", account);
  }

  /** Adds a user that is not there yet. */
  addUser(
    name: string,
    { policy, account, path, boundary }: Pick<User, "policy" | "account" | "path"> & { boundary?: string | undefined },
  ): Promise<User> {
    return this.#index.mutate(() => {
      this.insertUser(name, policy, { enabled: true, account, boundary });
      this.#index.run("update users set path = ? where name = ?", path, name);
      this.#forget();
      return this.findUser(name) as User;
    });
  }

  /** Changes what the IAM API may change of a user; with another name the keys go along. */
  changeUser(name: string, change: Partial<Pick<User, "name" | "path" | "policies" | "attached">>): Promise<void> {
    return this.#change(() => {
      for (const column of ["path", "policies", "attached", "name"] as const) {
        const value = change[column];
        if (value !== undefined) {
          this.#index.run(`update users set ${column} = ? where name = ?`, value, name);
        }
      }
      if (change.name !== undefined) {
        this.#index.run("update access_keys set user = ? where user = ?", change.name, name);
      }
    });
  }

  listUsers(): User[] {
    return this.#index.all<User>("select * from users order by name");
  }

  putUser(name: string, policy: string, settings: UserSettings): Promise<User> {
    return this.#index.mutate(() => this.insertUser(name, policy, settings));
  }

  /** `putUser` inside a `mutate` of the caller. */
  insertUser(name: string, policy: string, { enabled, account = "", email, boundary }: UserSettings): User {
    if (!enabled) {
      this.#index.run("delete from access_keys where user = ? and parent is not null", name);
    }
    this.#forget();
    this.#index.run(
      `insert into users (name, created, enabled, policy, account, email, boundary, id) values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (name)
       do update set policy = excluded.policy, enabled = excluded.enabled, account = excluded.account, email = excluded.email, boundary = excluded.boundary`,
      name,
      this.#now(),
      Number(enabled),
      policy,
      account,
      email ?? null,
      boundary ?? null,
      `AIDA${randomBytes(8).toString("hex").toUpperCase()}`,
    );
    return this.findUser(name) as User;
  }

  /** Removes a user with all keys; false when there is none. */
  deleteUser(name: string): Promise<boolean> {
    return this.#change(() => {
      this.#index.run("delete from access_keys where user = ?", name);
      return this.#index.run("delete from users where name = ?", name).changes > 0;
    });
  }

  findKey(id: string): AccessKey | undefined {
    return this.#keys.get(id, () => this.#index.get<AccessKey>("select * from access_keys where id = ?", id));
  }

  /** Lasting keys, of one user or of all. */
  listKeys(user?: string): AccessKey[] {
    return user === undefined
      ? this.#index.all<AccessKey>("select * from access_keys where token is null order by created, id")
      : this.#index.all<AccessKey>(
          "select * from access_keys where token is null and user = ? order by created, id",
          user,
        );
  }

  createKey(key: NewAccessKey): Promise<AccessKey> {
    return this.#index.mutate(() => this.insertKey(key));
  }

  /** `createKey` inside a `mutate` of the caller. */
  insertKey(key: NewAccessKey): AccessKey {
    const id = `${key.kind}${randomBytes(10).toString("hex").slice(0, 16).toUpperCase()}`;
    this.#index.run(
      "insert into access_keys (id, secret, user, title, created, policy, expires, token, claims, session_policy, parent, roles) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      id,
      randomBytes(30).toString("base64url"),
      key.user,
      key.title ?? "",
      this.#now(),
      key.policy ?? null,
      key.expires ?? null,
      key.token ?? null,
      key.claims ?? null,
      key.sessionPolicy ?? null,
      key.parent ?? null,
      key.roles === undefined ? null : JSON.stringify(key.roles),
    );
    return this.findKey(id) as AccessKey;
  }

  /**
   * A lasting key whose id and secret whoever asks for it has chosen. Another secret ends the sessions that were made with it.
   * @returns undefined where the id is another user's key
   */
  putKey(key: Pick<AccessKey, "id" | "secret" | "user" | "title">): Promise<AccessKey | undefined> {
    const { id, secret, user, title } = key;
    const find = () => this.#index.get<AccessKey>("select * from access_keys where id = ?", id);
    return this.#change(() => {
      const known = find();
      if (known !== undefined && (known.user !== user || known.token !== null)) {
        return undefined;
      }
      this.#index.run("delete from access_keys where parent = ? and ?", id, Number(known?.secret !== secret));
      this.#index.run(
        `insert into access_keys (id, secret, user, title, created) values (?, ?, ?, ?, ?)
         on conflict (id) do update set secret = excluded.secret, title = excluded.title, enabled = 1`,
        id,
        secret,
        user,
        title,
        this.#now(),
      );
      return find();
    });
  }

  /** Disabling a key ends the sessions that were made with it. */
  enableKey(id: string, enabled: boolean): Promise<boolean> {
    return this.#change(() => {
      if (!enabled) {
        this.#index.run("delete from access_keys where parent = ?", id);
      }
      return this.#index.run("update access_keys set enabled = ? where id = ?", Number(enabled), id).changes > 0;
    });
  }

  /** Deletes a key with the sessions that were made with it. */
  deleteKey(id: string): Promise<boolean> {
    return this.#change(
      () => this.#index.run("delete from access_keys where id = ? or parent = ?", id, id).changes > 0,
    );
  }

  /** Ends the console's sessions of a login that has ended at the issuer. */
  deleteKeysOfLogin({ sessionId, userId }: EndedLogin): Promise<number> {
    const claim = (name: string) => `json_extract(claims, '$."jwt:${name}"')`;
    return this.#change(() =>
      sessionId === undefined
        ? this.#index.run(
            `delete from access_keys where title = ? and token is not null and ${claim("sub")} = ?`,
            LOGIN_TITLE,
            userId,
          ).changes
        : this.#index.run(
            `delete from access_keys where title = ? and token is not null and ${claim("sid")} = ? and (? is null or ${claim("sub")} = ?)`,
            LOGIN_TITLE,
            sessionId,
            userId ?? null,
            userId ?? null,
          ).changes,
    );
  }

  deleteExpiredKeys(): Promise<number> {
    return this.#change(
      () => this.#index.run("delete from access_keys where expires is not null and expires < ?", this.#now()).changes,
    );
  }

  /** What is kept to know the root password again; undefined on the first start. */
  findRootProof(): string | undefined {
    return this.#index.get<{ value: string }>("select value from meta where name = ?", ROOT_PROOF)?.value;
  }

  /**
   * Keeps what the new root password is known by, and ends the sessions and links that were made with the one before it: they
   * are the temporary keys that came neither from another key nor from an identity token.
   */
  replaceRootProof(proof: string): Promise<void> {
    return this.#change(() => {
      this.#index.run("delete from access_keys where token is not null and claims is null and parent is null");
      this.#index.run(
        "insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
        ROOT_PROOF,
        proof,
      );
    });
  }

  findRole(name: string): Role | undefined {
    return this.#index.get<Role>("select * from roles where name = ?", name);
  }

  listRoles(): Role[] {
    return this.#index.all<Role>("select * from roles order by name");
  }

  /** Makes or changes a role. Whoever got temporary keys by it loses them when it lets in less than before. */
  putRole(role: NewRole): Promise<void> {
    return this.#index.mutate(() => {
      const before = this.findRole(role.name);
      if (before !== undefined && !includesAll(role, before)) {
        this.#endSessionsOf(role.name);
      }
      this.#insertRole(role);
    });
  }

  /** Adds a role unless this was done before under the name `once`, or a role of that name is there. */
  addRoleOnce(once: string, role: NewRole): Promise<void> {
    return this.#index.mutate(() => {
      const { changes } = this.#index.run(
        "insert into meta (name, value) values (?, '') on conflict (name) do nothing",
        once,
      );
      if (changes > 0 && this.findRole(role.name) === undefined) {
        this.#insertRole(role);
      }
    });
  }

  /** Deletes a role and the temporary keys that were made by it. */
  deleteRole(name: string): Promise<boolean> {
    return this.#index.mutate(() => {
      this.#endSessionsOf(name);
      return this.#index.run("delete from roles where name = ?", name).changes > 0;
    });
  }

  #insertRole({ name, policy, claim, values }: NewRole): void {
    this.#index.run(
      "insert into roles (name, created, policy, claim, claim_values) values (?, ?, ?, ?, ?) on conflict (name) do update set policy = excluded.policy, claim = excluded.claim, claim_values = excluded.claim_values",
      name,
      this.#now(),
      policy,
      claim,
      claim === null ? null : JSON.stringify(values),
    );
  }

  #change<T>(change: () => T): Promise<T> {
    return this.#index.mutate(() => {
      const result = change();
      this.#forget();
      return result;
    });
  }

  #forget(): void {
    this.#users.clear();
    this.#keys.clear();
  }

  #endSessionsOf(role: string): void {
    this.#forget();
    this.#index.run(
      "delete from access_keys where roles is not null and exists (select 1 from json_each(roles) where value = ?)",
      role,
    );
  }
}

/** Values of a role's claim. */
export function valuesOf({ claim_values: json }: Role): readonly string[] {
  return json === null ? [] : (JSON.parse(json) as string[]);
}

/** Whether everything that a role let in before is still let in, to the same rights. */
function includesAll({ policy, claim, values }: NewRole, before: Role): boolean {
  return (
    policy === before.policy && claim === before.claim && valuesOf(before).every((value) => values.includes(value))
  );
}
