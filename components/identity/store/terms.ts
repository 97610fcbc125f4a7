import type { Queryable } from "./database.ts";

/** Terms and conditions that policies ask for. */
export interface Term {
  readonly id: string;
  readonly document: Readonly<Record<string, unknown>>;
}

export async function listTerms(db: Queryable, realmId: string): Promise<readonly Term[]> {
  const { rows } = await db.query<Term>("select id, document from term where realm_id = $1 order by id limit 1000", [
    realmId,
  ]);
  return rows;
}

export async function findTerm(db: Queryable, realmId: string, id: string): Promise<Term | undefined> {
  const { rows } = await db.query<Term>("select id, document from term where realm_id = $1 and id = $2", [realmId, id]);
  return rows[0];
}

/** @returns false where the term is there already and is not to be replaced */
export async function putTerm(
  db: Queryable,
  realmId: string,
  { id, document }: Term,
  replace: boolean,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into term (realm_id, id, document) values ($1, $2, $3)
     on conflict (realm_id, id) do ${replace ? "update set document = $3" : "nothing"}`,
    [realmId, id, document],
  );
  return rowCount === 1;
}

export async function deleteTerm(db: Queryable, realmId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from term where realm_id = $1 and id = $2", [realmId, id]);
  return rowCount === 1;
}

/** Terms that a user has accepted, with the time of it. */
export async function listAcceptances(
  db: Queryable,
  realmId: string,
  userId: string,
): Promise<readonly { readonly term: string; readonly acceptedAt: Date }[]> {
  const { rows } = await db.query<{ term: string; accepted_at: Date }>(
    "select term, accepted_at from term_acceptance where realm_id = $1 and user_id = $2 order by term",
    [realmId, userId],
  );
  return rows.map(({ term, accepted_at: acceptedAt }) => ({ term, acceptedAt }));
}

export async function acceptTerm(db: Queryable, realmId: string, userId: string, term: string): Promise<void> {
  await db.query("insert into term_acceptance (realm_id, term, user_id) values ($1, $2, $3) on conflict do nothing", [
    realmId,
    term,
    userId,
  ]);
}

export async function withdrawTerm(db: Queryable, realmId: string, userId: string, term: string): Promise<void> {
  await db.query("delete from term_acceptance where realm_id = $1 and term = $2 and user_id = $3", [
    realmId,
    term,
    userId,
  ]);
}
