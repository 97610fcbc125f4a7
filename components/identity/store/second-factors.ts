import type { Queryable } from "./database.ts";

/** A program or key that makes one-time codes for a user. */
export interface OtpDevice {
  readonly id: string;
  readonly label: string;
  /** Base32 (RFC 4648). */
  readonly secret: string;
  readonly createdAt: Date;
}

export async function listOtpDevices(db: Queryable, userId: string): Promise<readonly OtpDevice[]> {
  const { rows } = await db.query<{ id: string; label: string; secret: string; created_at: Date }>({
    name: "list-otp-devices",
    text: "select id, label, secret, created_at from otp_device where user_id = $1 order by created_at, id",
    values: [userId],
  });
  return rows.map(({ created_at: createdAt, ...device }) => ({ ...device, createdAt }));
}

export async function insertOtpDevice(
  db: Queryable,
  userId: string,
  { label, secret, step }: { readonly label: string; readonly secret: string; readonly step: number },
): Promise<void> {
  await db.query("insert into otp_device (user_id, label, secret, last_step) values ($1, $2, $3, $4)", [
    userId,
    label,
    secret,
    step,
  ]);
}

/** @returns false when the user has no such device */
export async function deleteOtpDevice(db: Queryable, userId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from otp_device where user_id = $1 and id = $2", [userId, id]);
  return rowCount === 1;
}

/** Takes the code of a time step. @returns false when that one or a later one was taken before */
export async function takeOtpStep(db: Queryable, id: string, step: number): Promise<boolean> {
  const { rowCount } = await db.query("update otp_device set last_step = $2 where id = $1 and last_step < $2", [
    id,
    step,
  ]);
  return rowCount === 1;
}

export async function replaceRecoveryCodes(db: Queryable, userId: string, hashes: readonly string[]): Promise<void> {
  await db.query("delete from recovery_code where user_id = $1", [userId]);
  await db.query("insert into recovery_code (user_id, code_hash) select $1, unnest($2::text[])", [userId, hashes]);
}

/** Takes a recovery code. @returns false when the user has none with that hash, or no more */
export async function takeRecoveryCode(db: Queryable, userId: string, hash: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from recovery_code where user_id = $1 and code_hash = $2", [
    userId,
    hash,
  ]);
  return rowCount === 1;
}

export async function countRecoveryCodes(db: Queryable, userId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from recovery_code where user_id = $1",
    [userId],
  );
  return rows[0]?.count ?? 0;
}
