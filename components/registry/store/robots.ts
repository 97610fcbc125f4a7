import { createSecret, digestSecret } from "../access/secrets.ts";
import type { RobotPermission } from "../access/principal.ts";
import type { Sql } from "./database.ts";

export interface Robot {
  readonly id: number;
  /** `robot$name` of the whole registry, `robot$project+name` of a project. */
  readonly fullName: string;
  readonly project: string | undefined;
  readonly description: string;
  readonly permissions: readonly RobotPermission[];
  readonly expiresAt: Date | undefined;
  readonly isDisabled: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

interface RobotRow {
  readonly id: string;
  readonly name: string;
  readonly project: string | null;
  readonly description: string;
  readonly permissions: readonly RobotPermission[];
  readonly expires_at: Date | null;
  readonly is_disabled: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly secret_digest: Buffer;
}

const PREFIX = "robot$";
const SELECT = `select r.*, p.name as project from robot r left join project p on p.id = r.project_id`;

const toRobot = (row: RobotRow): Robot => ({
  id: Number(row.id),
  fullName: `${PREFIX}${row.project === null ? "" : `${row.project}+`}${row.name}`,
  project: row.project ?? undefined,
  description: row.description,
  permissions: row.permissions,
  expiresAt: row.expires_at ?? undefined,
  isDisabled: row.is_disabled,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export function isRobotName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** A robot that may be used now, and the digest of its secret. */
export async function findRobotLogin(
  sql: Sql,
  fullName: string,
): Promise<{ readonly robot: Robot; readonly digest: Buffer } | undefined> {
  const [first = "", second] = fullName.slice(PREFIX.length).split("+", 2);
  const [row] = await sql.query<RobotRow>(
    `/* prepared: robot */ ${SELECT} where r.name = $1 and p.name is not distinct from $2
       and not r.is_disabled and (r.expires_at is null or r.expires_at > now())`,
    [second ?? first, second === undefined ? null : first],
  );
  return row && { robot: toRobot(row), digest: row.secret_digest };
}

export async function findRobot(sql: Sql, id: number): Promise<Robot | undefined> {
  const [row] = await sql.query<RobotRow>(`${SELECT} where r.id = $1`, [id]);
  return row && toRobot(row);
}

/** Robots of a project, or those of the whole registry. */
export async function listRobots(sql: Sql, projectId: string | null): Promise<readonly Robot[]> {
  const rows = await sql.query<RobotRow>(`${SELECT} where r.project_id is not distinct from $1 order by r.id`, [
    projectId,
  ]);
  return rows.map(toRobot);
}

export interface NewRobot {
  readonly projectId: string | null;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly RobotPermission[];
  readonly expiresAt: Date | null;
  readonly createdBy: string;
}

/** Undefined when the name is taken. */
export async function createRobot(
  sql: Sql,
  robot: NewRobot,
): Promise<{ readonly id: number; readonly secret: string } | undefined> {
  const secret = createSecret();
  const [row] = await sql.query<{ id: string }>(
    `insert into robot (project_id, name, description, secret_digest, permissions, expires_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (project_id, name) do nothing returning id`,
    [
      robot.projectId,
      robot.name,
      robot.description,
      digestSecret(secret),
      JSON.stringify(robot.permissions),
      robot.expiresAt,
      robot.createdBy,
    ],
  );
  return row && { id: Number(row.id), secret };
}

export interface RobotChange {
  readonly description: string;
  readonly permissions: readonly RobotPermission[];
  readonly expiresAt: Date | null;
  readonly isDisabled: boolean;
}

export async function updateRobot(sql: Sql, id: number, change: RobotChange): Promise<void> {
  await sql.query(
    `update robot set description = $2, permissions = $3, expires_at = $4, is_disabled = $5, updated_at = now() where id = $1`,
    [id, change.description, JSON.stringify(change.permissions), change.expiresAt, change.isDisabled],
  );
}

/** Gives a robot a new secret; the old one is worth nothing from then on. */
export async function renewRobotSecret(sql: Sql, id: number): Promise<string> {
  const secret = createSecret();
  await sql.query("update robot set secret_digest = $2, updated_at = now() where id = $1", [id, digestSecret(secret)]);
  return secret;
}

export async function deleteRobot(sql: Sql, id: number): Promise<void> {
  await sql.query("delete from robot where id = $1", [id]);
}
