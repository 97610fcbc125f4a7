import { runChange } from "../admin/request.ts";
import type { IdentityContext } from "../context.ts";
import { insertEvent } from "../store/events.ts";
import { rotateKeys } from "../store/keys.ts";
import { listDueRemovals } from "../store/profile.ts";
import { listRealms } from "../store/realms.ts";
import { publishUserChange, deleteUser } from "../store/users.ts";

/** Removes what has ended and makes new signing keys where it is time, now and then; one replica at a time. */
export function startCleanUp(context: IdentityContext, seconds: number): { readonly stop: () => void } {
  const { logger } = context;
  const run = () =>
    void cleanUp(context).catch((error: unknown) => logger.warn({ err: error }, "cannot clean up; trying again later"));
  const timer = setInterval(run, seconds * 1000);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

export async function cleanUp(context: IdentityContext): Promise<void> {
  const client = await context.pool.connect();
  try {
    const { rows } = await client.query<{ mine: boolean }>(
      "select pg_try_advisory_lock(hashtext('identity clean-up')) as mine",
    );
    if (!rows[0]?.mine) {
      return;
    }
    try {
      for (const table of [
        "user_session",
        "oidc_record",
        "revoked_token",
        "used_once",
        "device_grant",
        "email_confirmation",
        "logout_notice",
      ]) {
        await client.query(`delete from ${table} where expires_at < now()`);
      }
      await client.query(
        "delete from login_failure where coalesce(locked_until, last_failure) < now() - interval '1 day'",
      );
      await client.query("delete from known_login where last_login < now() - interval '180 days'");
      await client.query("delete from signing_key where status = 'passive' and retire_at < now()");
      await removeDueAccounts(context);
      for (const realm of await listRealms(client)) {
        const { eventsExpiration, keyRotationInterval, accessTokenLifespan } = realm.settings;
        for (const table of ["event", "admin_event"]) {
          await client.query(`delete from ${table} where realm_id = $1 and at < now() - make_interval(secs => $2)`, [
            realm.id,
            eventsExpiration,
          ]);
        }
        const { rows: due } = await client.query<{ due: boolean }>(
          `select count(*) = 0 or ($2 > 0 and bool_or(created_at < now() - make_interval(secs => $2))) as due
           from signing_key where realm_id = $1 and status = 'active'`,
          [realm.id, keyRotationInterval],
        );
        if (due[0]?.due === true) {
          await rotateKeys(client, realm, accessTokenLifespan);
        }
      }
    } finally {
      await client.query("select pg_advisory_unlock(hashtext('identity clean-up'))");
    }
  } finally {
    client.release();
  }
}

/** Removes the accounts whose users asked for it and did not think again in time. */
async function removeDueAccounts(context: IdentityContext): Promise<void> {
  await runChange(context, async (db) => {
    for (const { userId, realmId, realm } of await listDueRemovals(db)) {
      await deleteUser(db, userId);
      await publishUserChange(db, realm, userId);
      await insertEvent(db, realmId, { type: "DELETE_ACCOUNT", userId, details: { done: "true" } });
      context.logger.info({ user: userId }, "removed an account whose user asked for it");
    }
  });
}
