import { METHOD_RESOURCE_TYPE, type RuleNode } from "@swath/auth";

import { type Queryable, isUuid } from "./database.ts";

/** A policy document of variant B, in its names. */
export interface PolicyDocument {
  readonly name: string;
  readonly description: string;
  readonly config: {
    readonly resource_id: string;
    readonly action: string;
    /** Terms that must be accepted. */
    readonly "T&C": readonly string[];
    readonly rules: readonly RuleNode[];
    /** Address of another decision point, which has to permit a request too. */
    readonly delegate?: string;
  };
  readonly scopes: readonly string[];
}

export interface DecisionPolicy {
  readonly id: string;
  readonly owner: string;
  readonly document: PolicyDocument;
  /** True for what comes with a registered resource and is stored nowhere. */
  readonly isDefault?: boolean;
}

const SELECT = "select id, owner, document from decision_policy";

export async function listDecisionPolicies(
  db: Queryable,
  realmId: string,
  { resources, owner, limit }: { resources?: readonly string[]; owner?: string; limit: number },
): Promise<readonly DecisionPolicy[]> {
  const { rows } = await db.query<DecisionPolicy>({
    name: "list-decision-policies",
    text: `${SELECT} where realm_id = $1 and ($2::text[] is null or resource_id = any($2)) and ($3::text is null or owner = $3)
      order by created_at, id limit $4`,
    values: [realmId, resources ?? null, owner ?? null, limit],
  });
  return rows;
}

export async function findDecisionPolicy(
  db: Queryable,
  realmId: string,
  id: string,
): Promise<DecisionPolicy | undefined> {
  const { rows } = await db.query<DecisionPolicy>(`${SELECT} where realm_id = $1 and id = $2`, [realmId, id]);
  return rows[0];
}

export async function insertDecisionPolicy(
  db: Queryable,
  realmId: string,
  owner: string,
  document: PolicyDocument,
): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    "insert into decision_policy (realm_id, resource_id, owner, document) values ($1, $2, $3, $4) returning id",
    [realmId, document.config.resource_id, owner, document],
  );
  return (rows[0] as { id: string }).id;
}

export async function updateDecisionPolicy(db: Queryable, id: string, document: PolicyDocument): Promise<void> {
  await db.query("update decision_policy set resource_id = $2, document = $3 where id = $1", [
    id,
    document.config.resource_id,
    document,
  ]);
}

export async function deleteDecisionPolicy(db: Queryable, id: string): Promise<void> {
  await db.query("delete from decision_policy where id = $1", [id]);
}

export async function deleteDecisionPoliciesOf(db: Queryable, realmId: string, resourceId: string): Promise<void> {
  await db.query("delete from decision_policy where realm_id = $1 and resource_id = $2", [realmId, resourceId]);
}

/** Users who have accepted all of the terms. */
export async function listAcceptors(
  db: Queryable,
  realmId: string,
  terms: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ user_id: string }>(
    `select user_id from term_acceptance where realm_id = $1 and term = any($2) group by user_id
     having count(*) = $3`,
    [realmId, terms, new Set(terms).size],
  );
  return rows.map(({ user_id: id }) => id);
}

/** Owner and scopes of a resource whose scopes are methods. */
export async function findResourceMethods(
  db: Queryable,
  realmId: string,
  resourceId: string,
): Promise<{ readonly owner: string; readonly scopes: readonly string[] } | undefined> {
  if (!isUuid(resourceId)) {
    return undefined;
  }
  const { rows } = await db.query<{ owner: string; scopes: string[] }>({
    name: "find-resource-methods",
    text: `select r.owner, array(select s.name from authz_resource_scope rs join authz_scope s on s.id = rs.scope where rs.resource = r.id) as scopes
      from authz_resource r join client c on c.id = r.client where c.realm_id = $1 and r.id = $2::uuid and r.type = $3`,
    values: [realmId, resourceId, METHOD_RESOURCE_TYPE],
  });
  return rows[0];
}

/** The resource server of a registered resource, and whose the resource is. */
export async function findResourceHome(
  db: Queryable,
  realmId: string,
  resourceId: string,
): Promise<{ readonly client: string; readonly clientId: string; readonly owner: string } | undefined> {
  // Compared as what it is, so that its index is used.
  if (!isUuid(resourceId)) {
    return undefined;
  }
  const { rows } = await db.query<{ client: string; client_id: string; owner: string }>({
    name: "find-resource-home",
    text: `select c.id as client, c.client_id, r.owner from authz_resource r join client c on c.id = r.client
      where c.realm_id = $1 and r.id = $2::uuid`,
    values: [realmId, resourceId],
  });
  return rows[0] && { client: rows[0].client, clientId: rows[0].client_id, owner: rows[0].owner };
}
