import { hash } from "node:crypto";

import type { Queryable } from "./database.ts";

/** Takes what is good once: true the first time, false ever after, on every replica. `kind` keeps ids of different things apart. */
export async function takeOnce(db: Queryable, kind: string, id: string, expiresAt: Date): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "take-once",
    text: "insert into used_once (id, expires_at) values ($1, $2) on conflict do nothing",
    values: [hash("sha256", `${kind} ${id}`, "base64url"), expiresAt],
  });
  return rowCount === 1;
}
