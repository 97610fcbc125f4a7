import type { Queryable } from "./database.ts";

export interface CapturedMail {
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  readonly createdAt: Date;
}

const MAX_KEPT = 1000;

export async function insertCapturedMail(
  db: Queryable,
  { recipient, subject, body }: Omit<CapturedMail, "createdAt">,
): Promise<void> {
  await db.query(
    `with old as (delete from captured_mail where id <= (select max(id) - ${MAX_KEPT} from captured_mail))
     insert into captured_mail (recipient, subject, body) values ($1, $2, $3)`,
    [recipient, subject, body],
  );
}

/** The latest messages, the newest first. */
export async function listCapturedMail(db: Queryable, limit: number): Promise<readonly CapturedMail[]> {
  const { rows } = await db.query<Omit<CapturedMail, "createdAt"> & { created_at: Date }>(
    "select recipient, subject, body, created_at from captured_mail order by id desc limit $1",
    [limit],
  );
  return rows.map(({ created_at: createdAt, ...mail }) => ({ ...mail, createdAt }));
}
