import type { Queryable } from "./database.ts";

/** Types of policies that decide, and the two types that are permissions: they tie policies to resources or scopes. */
export const POLICY_TYPES = ["user", "role", "group", "client", "time", "regex", "aggregate", "authenticated"] as const;
export const PERMISSION_TYPES = ["resource", "scope"] as const;
/** A permission by which the owner of a resource shares it; who gets it is in its `config`. */
export const OWNER_PERMISSION = "uma";

/** Whether a type says what is protected, not who is let in. */
export const isPermission = ({ type }: Pick<AuthzPolicy, "type">): boolean =>
  type === OWNER_PERMISSION || (PERMISSION_TYPES as readonly string[]).includes(type);

/** A policy or a permission as it is stored. */
export interface AuthzPolicy {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly type: string;
  readonly logic: "POSITIVE" | "NEGATIVE";
  readonly decisionStrategy: "UNANIMOUS" | "AFFIRMATIVE" | "CONSENSUS";
  /** What the type says about itself: `{users}`, `{roles}`, `{pattern}` … */
  readonly config: Readonly<Record<string, unknown>>;
  /** Ids. */
  readonly resources: readonly string[];
  readonly scopes: readonly string[];
  /** Policies that are combined. */
  readonly policies: readonly string[];
  /** Id of the user who shares the resource; only with the type `uma`. */
  readonly owner?: string | undefined;
}

interface PolicyRow {
  id: string;
  name: string;
  description: string | null;
  type: string;
  logic: AuthzPolicy["logic"];
  decision_strategy: AuthzPolicy["decisionStrategy"];
  config: Record<string, unknown>;
  resources: string[];
  scopes: string[];
  policies: string[];
  owner: string | null;
}

const SELECT = `select p.id, p.name, p.description, p.type, p.logic, p.decision_strategy, p.config, p.owner,
  array(select resource::text from authz_policy_resource x where x.policy = p.id) as resources,
  array(select scope::text from authz_policy_scope x where x.policy = p.id) as scopes,
  array(select member::text from authz_policy_member x where x.policy = p.id) as policies
  from authz_policy p`;

export interface PolicyFilter {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  /** Only permissions, or only policies. */
  readonly permission?: boolean | undefined;
  readonly resource?: string | undefined;
  /** Name of a scope. */
  readonly scope?: string | undefined;
  /** Only what this user shares. */
  readonly owner?: string | undefined;
  readonly first?: number | undefined;
  /** Below zero: all. */
  readonly max?: number | undefined;
}

export async function listPolicies(
  db: Queryable,
  client: string,
  filter: PolicyFilter = {},
): Promise<readonly AuthzPolicy[]> {
  const { rows } = await db.query<PolicyRow>(
    `${SELECT} where p.client = $1 and ($2::uuid is null or p.id = $2)
       and ($3::text is null or strpos(lower(p.name), lower($3)) > 0) and ($4::text is null or p.type = $4)
       and ($5::boolean is null or (p.type in ('resource', 'scope', 'uma')) = $5)
       and ($6::uuid is null or exists (select 1 from authz_policy_resource x where x.policy = p.id and x.resource = $6))
       and ($7::uuid is null or p.owner = $7)
       and ($8::text is null or exists (select 1 from authz_policy_scope x join authz_scope s on s.id = x.scope
         where x.policy = p.id and s.name = $8))
     order by p.name, p.id offset $9 limit $10`,
    [
      client,
      filter.id ?? null,
      filter.name ?? null,
      filter.type ?? null,
      filter.permission ?? null,
      filter.resource ?? null,
      filter.owner ?? null,
      filter.scope ?? null,
      filter.first ?? 0,
      filter.max === undefined || filter.max < 0 ? null : filter.max,
    ],
  );
  return rows.map(toPolicy);
}

export async function findPolicy(db: Queryable, client: string, id: string): Promise<AuthzPolicy | undefined> {
  return (await listPolicies(db, client, { id }))[0];
}

/** A policy of the client itself: what owners share has names of its own. */
export async function findPolicyByName(db: Queryable, client: string, name: string): Promise<AuthzPolicy | undefined> {
  const { rows } = await db.query<PolicyRow>(`${SELECT} where p.client = $1 and p.name = $2 and p.owner is null`, [
    client,
    name,
  ]);
  return rows[0] && toPolicy(rows[0]);
}

export type PolicyFields = Omit<AuthzPolicy, "id">;

/** How many policies a user shares resources by, at all clients together. */
export async function countOwnerPolicies(db: Queryable, owner: string): Promise<number> {
  const { rows } = await db.query<{ count: string }>("select count(*) from authz_policy where owner = $1", [owner]);
  return Number(rows[0]?.count);
}

/** Takes away what a user shares. Returns the clients whose rules are others now. */
export async function deleteOwnerPolicies(
  db: Queryable,
  owner: string,
): Promise<readonly { readonly id: string; readonly clientId: string; readonly realm: string }[]> {
  const { rows } = await db.query<{ id: string; client_id: string; realm: string }>(
    `with gone as (delete from authz_policy where owner = $1 returning client)
     select distinct c.id, c.client_id, r.name as realm from gone join client c on c.id = gone.client join realm r on r.id = c.realm_id`,
    [owner],
  );
  return rows.map(({ id, client_id: clientId, realm }) => ({ id, clientId, realm }));
}

/** Adds a policy, or replaces the one of the id, whose owner stays. What it refers to must be of the same client. */
export async function putPolicy(
  db: Queryable,
  client: string,
  id: string | undefined,
  policy: PolicyFields,
): Promise<string> {
  const values = [
    policy.name,
    policy.description ?? null,
    policy.type,
    policy.logic,
    policy.decisionStrategy,
    policy.config,
  ];
  const { rows } = await db.query<{ id: string }>(
    id === undefined
      ? `insert into authz_policy (client, name, description, type, logic, decision_strategy, config, owner)
         values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`
      : `update authz_policy set name = $2, description = $3, type = $4, logic = $5, decision_strategy = $6, config = $7
         where client = $1 and id = $8 returning id`,
    [client, ...values, id ?? policy.owner ?? null],
  );
  const { id: stored } = rows[0] as { id: string };
  await db.query("delete from authz_policy_resource where policy = $1", [stored]);
  await db.query("delete from authz_policy_scope where policy = $1", [stored]);
  await db.query("delete from authz_policy_member where policy = $1", [stored]);
  await db.query(
    `insert into authz_policy_resource (policy, resource)
     select $1, id from authz_resource where client = $2 and id = any($3::uuid[])`,
    [stored, client, policy.resources],
  );
  await db.query(
    `insert into authz_policy_scope (policy, scope)
     select $1, id from authz_scope where client = $2 and id = any($3::uuid[])`,
    [stored, client, policy.scopes],
  );
  await db.query(
    `insert into authz_policy_member (policy, member)
     select $1, id from authz_policy where client = $2 and id = any($3::uuid[]) and id <> $1`,
    [stored, client, policy.policies],
  );
  return stored;
}

export async function deletePolicy(db: Queryable, client: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from authz_policy where client = $1 and id = $2", [client, id]);
  return rowCount === 1;
}

function toPolicy(row: PolicyRow): AuthzPolicy {
  return {
    id: row.id,
    name: row.name,
    description: row.description ?? undefined,
    type: row.type,
    logic: row.logic,
    decisionStrategy: row.decision_strategy,
    config: row.config,
    resources: row.resources,
    scopes: row.scopes,
    policies: row.policies,
    ...(row.owner !== null && { owner: row.owner }),
  };
}
