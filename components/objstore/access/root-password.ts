import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";

import type { Accounts } from "../store/accounts.ts";

/**
 * Ends what the root user logged in to before when name or password of the root user are not those of the last start. The
 * password is a setting, not a row, so nothing else would end those sessions: they are keys of their own.
 */
export async function endSessionsOfOldPassword(accounts: Accounts, user: string, password: string): Promise<void> {
  const [salt = "", kept = ""] = (accounts.findRootProof() ?? "").split(":");
  const found = toDigest(user, password, Buffer.from(salt, "hex"));
  const before = Buffer.from(kept, "hex");
  if (before.length !== found.length || !timingSafeEqual(before, found)) {
    const fresh = randomBytes(16);
    await accounts.replaceRootProof(`${fresh.toString("hex")}:${toDigest(user, password, fresh).toString("hex")}`);
  }
}

/** Slow on purpose: unlike the secrets of access keys, people choose this one. */
function toDigest(user: string, password: string, salt: Buffer): Buffer {
  return scryptSync(JSON.stringify([user, password]), salt, 32);
}
