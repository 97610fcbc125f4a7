/** What a scope brings with it (JupyterHub, "Scopes and hierarchy"). */
const SUBSCOPES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    "admin:users": ["users", "delete:users", "admin:auth_state", "read:roles:users"],
    users: ["read:users", "list:users", "users:activity"],
    "list:users": ["read:users:name"],
    "read:users": ["read:users:name", "read:users:groups", "read:users:activity"],
    "users:activity": ["read:users:activity"],
    "admin:servers": ["servers", "admin:server_state"],
    servers: ["read:servers", "start:servers", "delete:servers"],
    "read:servers": ["read:users:name"],
    tokens: ["read:tokens"],
    "admin:groups": ["groups", "delete:groups", "read:roles:groups"],
    groups: ["read:groups", "list:groups"],
    "list:groups": ["read:groups:name"],
    "read:groups": ["read:groups:name"],
    "list:services": ["read:services:name"],
    "read:services": ["read:services:name"],
    shares: ["access:servers", "read:shares", "users:shares", "groups:shares"],
    "users:shares": ["read:users:shares"],
    "groups:shares": ["read:groups:shares"],
    "read:roles": ["read:roles:users", "read:roles:groups", "read:roles:services"],
  }),
);

/** What every user has of their own. */
const SELF = ["read:users", "users:activity", "servers", "tokens", "access:servers", "shares", "users:shares"] as const;
/** What administrators have of everything. */
const ADMIN = [
  "admin:users",
  "admin:servers",
  "tokens",
  "admin:groups",
  "list:services",
  "read:services",
  "read:hub",
  "read:metrics",
  "proxy",
  "shutdown",
  "access:services",
  "access:servers",
  "read:roles",
  "shares",
] as const;

const KNOWN = new Set([...SUBSCOPES.keys(), ...[...SUBSCOPES.values()].flat(), ...SELF, ...ADMIN, "self", "inherit"]);

/** What an action is about. */
export interface Subject {
  readonly user?: string;
  /** `user/name` */
  readonly server?: string;
  readonly group?: string;
  readonly service?: string;
  /** Groups of the user it is about. */
  readonly groups?: readonly string[];
}

/** Scopes with what they are limited to: `servers!user=eric`. */
export type ScopeList = readonly string[];

export interface ScopeOwner {
  readonly user?: string;
  readonly admin: boolean;
  readonly service?: string;
  /** `user/name` of the server whose token it is. */
  readonly server?: string;
}

export const isScope = (text: string): boolean => {
  const [name, filter] = split(text);
  return KNOWN.has(name) && (filter === undefined || /^(user|server|group|service)(=.+)?$/.test(filter));
};

/** Everything that an owner may do. */
export function scopesOfOwner({ user, admin }: ScopeOwner): ScopeList {
  const own = user === undefined ? [] : SELF.map((scope) => `${scope}!user=${user}`);
  return expand(admin ? [...ADMIN, ...own] : own);
}

/** Scopes of a token: those it was given, as far as its owner has them. */
export function scopesOfToken(provided: ScopeList, owner: ScopeOwner, held: ScopeList): ScopeList {
  const named = provided.flatMap((scope) => {
    const [name, filter] = split(scope);
    if (name === "inherit") {
      return held;
    }
    if (name === "self") {
      return SELF.map((each) => `${each}!user=${owner.user ?? ""}`);
    }
    if (filter === "user") {
      return `${name}!user=${owner.user ?? ""}`;
    }
    return filter === "server" ? `${name}!server=${owner.server ?? ""}` : scope;
  });
  return expand(named).filter((scope) => covers(held, scope));
}

/** Whether a scope is held for a subject. */
export function permits(scopes: ScopeList, scope: string, subject: Subject = {}): boolean {
  return scopes.some((held) => {
    const [name, filter] = split(held);
    return name === scope && (filter === undefined || matches(filter, subject));
  });
}

/** Whether a scope is held for anything at all. */
export const permitsAny = (scopes: ScopeList, scope: string): boolean =>
  scopes.some((held) => split(held)[0] === scope);

function expand(scopes: ScopeList): ScopeList {
  const all = new Set<string>();
  const add = (scope: string) => {
    if (!all.has(scope)) {
      all.add(scope);
      const [name, filter] = split(scope);
      for (const sub of SUBSCOPES.get(name) ?? []) {
        add(filter === undefined ? sub : `${sub}!${filter}`);
      }
    }
  };
  scopes.forEach(add);
  return [...all];
}

/** Whether `scopes` allow all that `scope` allows. */
function covers(scopes: ScopeList, scope: string): boolean {
  const [name, filter] = split(scope);
  if (filter === undefined) {
    return scopes.includes(scope);
  }
  const [kind, value] = splitFilter(filter);
  const subject: Subject =
    kind === "server" ? { server: value, user: value.split("/")[0] ?? "" } : { [kind as "user"]: value };
  return permits(scopes, name, subject);
}

function matches(filter: string, { user, server, group, service, groups }: Subject): boolean {
  const [kind, value] = splitFilter(filter);
  switch (kind) {
    case "user":
      return user === value;
    case "server":
      return server === value;
    case "group":
      return group === value || groups?.includes(value) === true;
    case "service":
      return service === value;
    default:
      return false;
  }
}

function split(scope: string): readonly [string, string?] {
  const at = scope.indexOf("!");
  return at < 0 ? [scope] : [scope.slice(0, at), scope.slice(at + 1)];
}

/** Names may have "=" in them. */
function splitFilter(filter: string): readonly [kind: string, value: string] {
  const at = filter.indexOf("=");
  return at < 0 ? [filter, ""] : [filter.slice(0, at), filter.slice(at + 1)];
}
