import type { Sql } from "./database.ts";

export const AUTHS = ["", "Basic", "Bearer", "X-ScannerAdapter-API-Key"] as const;

/** A scanner behind an adapter of the pluggable scanner API. */
export interface Scanner {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly auth: (typeof AUTHS)[number];
  readonly sealedCredential: string | undefined;
  readonly isDisabled: boolean;
  readonly isDefault: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface ScannerRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly url: string;
  readonly auth: Scanner["auth"];
  readonly sealed_credential: string | null;
  readonly is_disabled: boolean;
  readonly is_default: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const toScanner = (row: ScannerRow): Scanner => ({
  id: row.id,
  name: row.name,
  description: row.description,
  url: row.url,
  auth: row.auth,
  sealedCredential: row.sealed_credential ?? undefined,
  isDisabled: row.is_disabled,
  isDefault: row.is_default,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export async function listScanners(sql: Sql): Promise<readonly Scanner[]> {
  return (await sql.query<ScannerRow>("select * from scanner order by name")).map(toScanner);
}

export async function findScanner(sql: Sql, id: string): Promise<Scanner | undefined> {
  const [row] = await sql.query<ScannerRow>("select * from scanner where id = $1", [id]);
  return row && toScanner(row);
}

/** The scanner of a project: its own, or the default of the registry. */
export async function findScannerOf(sql: Sql, projectId: string): Promise<Scanner | undefined> {
  const [row] = await sql.query<ScannerRow>(
    `select s.* from scanner s, project p where p.id = $1 and not s.is_disabled
       and (s.id = p.scanner_id or (p.scanner_id is null and s.is_default))`,
    [projectId],
  );
  return row && toScanner(row);
}

export type ScannerValues = Pick<Scanner, "name" | "description" | "url" | "auth" | "sealedCredential" | "isDisabled">;

const toColumns = (values: ScannerValues): readonly unknown[] => [
  values.name,
  values.description,
  values.url,
  values.auth,
  values.sealedCredential ?? null,
  values.isDisabled,
];

/** The first becomes the default. Undefined when the name is taken. */
export async function insertScanner(sql: Sql, values: ScannerValues): Promise<string | undefined> {
  const [row] = await sql.query<{ id: string }>(
    `insert into scanner (name, description, url, auth, sealed_credential, is_disabled, is_default)
     values ($1, $2, $3, $4, $5, $6, not exists (select from scanner)) on conflict (name) do nothing returning id`,
    toColumns(values),
  );
  return row?.id;
}

/** False when the name is another one's. */
export async function updateScanner(sql: Sql, id: string, values: ScannerValues): Promise<boolean> {
  const rows = await sql.query(
    `update scanner set name = $1, description = $2, url = $3, auth = $4, sealed_credential = $5, is_disabled = $6,
       updated_at = now() where id = $7 and not exists (select from scanner o where o.name = $1 and o.id <> $7)
     returning 1 as updated`,
    [...toColumns(values), id],
  );
  return rows.length > 0;
}

export async function setDefaultScanner(tx: Sql, id: string): Promise<void> {
  await tx.query("update scanner set is_default = false where is_default");
  await tx.query("update scanner set is_default = true where id = $1", [id]);
}

export async function deleteScanner(sql: Sql, id: string): Promise<void> {
  await sql.query("delete from scanner where id = $1", [id]);
}
