import { randomUUID } from "node:crypto";

import { type Claim, type Loop, startLoop } from "@swath/work";

import type { IdentityContext } from "../context.ts";
import type { Change } from "../store/changes.ts";
import {
  type LogoutNotice,
  RENEW_MS,
  deleteLogoutNotice,
  logoutNoticeQueue,
  postponeLogoutNotice,
} from "../store/logout-notices.ts";

/** Attributes of clients, by the names that the known provider has for them. */
export const BACK_CHANNEL_URL = "backchannel.logout.url";
export const BACK_CHANNEL_SESSION = "backchannel.logout.session.required";

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** A logout token is fresh when it arrives. */
const TOKEN_SECONDS = 120;
/** Notices that were not taken at once are looked for this often. */
const INTERVAL_MS = 2000;
/** One slow client must not hold up the others. */
const PARALLEL = 20;

/** Tells clients of sessions that have ended (OpenID Connect Back-Channel Logout 1.0 §2.5), until they have heard it or an hour is over. */
export async function startLogoutDelivery(context: IdentityContext): Promise<Pick<Loop, "stop">> {
  const { changes, logger, pool } = context;
  const loop = await startLoop<Claim<LogoutNotice>>({
    concurrency: PARALLEL,
    claim: ({ limit }) => logoutNoticeQueue.claim(pool, limit),
    renewMs: RENEW_MS,
    maxSleepMs: INTERVAL_MS,
    run: (claim) => deliver(context, claim),
    onError: (err) => logger.warn({ err }, "cannot tell clients of ended sessions; trying again later"),
  });
  const onChange = ({ kind }: Change) => {
    if (kind === "session" || kind === "user") {
      loop.wake();
    }
  };
  changes.events.on("change", onChange);
  return {
    stop: async () => {
      changes.events.off("change", onChange);
      await loop.stop();
    },
  };
}

async function deliver(context: IdentityContext, claim: Claim<LogoutNotice>): Promise<void> {
  const { row: notice } = claim;
  const { pool, realms, logger, clientAddresses } = context;
  const handle = await realms.find(notice.realm);
  const client = await handle?.findClient(notice.clientId);
  const url = client?.settings.attributes[BACK_CHANNEL_URL];
  if (handle === undefined || client?.settings.enabled !== true || url === undefined || url === "") {
    await deleteLogoutNotice(pool, notice.id);
    return;
  }
  const now = Math.floor(Date.now() / 1000);
  // §2.4: no nonce, so that nobody takes it for an ID token.
  const token = await handle.keys.sign(handle.realm.settings.defaultSignatureAlgorithm, "logout+jwt", {
    iss: handle.issuer,
    sub: notice.userId,
    aud: client.clientId,
    iat: now,
    exp: now + TOKEN_SECONDS,
    jti: randomUUID(),
    typ: "Logout",
    sid: notice.sessionId,
    events: { [LOGOUT_EVENT]: {} },
  });
  const where = { client: client.clientId, session: notice.sessionId, attempts: notice.attempts };
  try {
    const { status } = await clientAddresses.send(url, { form: { logout_token: token } });
    if (status >= 500 || status === 429) {
      throw new Error(`it answered ${status}`);
    }
    // 200 and 204 are success; what else it says will not be another thing the next time (§2.8).
    await deleteLogoutNotice(pool, notice.id);
    if (status !== 200 && status !== 204) {
      logger.warn({ ...where, status }, "a client refused to hear of a logout");
    }
  } catch (error) {
    logger.warn({ ...where, err: error }, "a client could not be told of a logout; trying again later");
    await postponeLogoutNotice(claim);
  }
}
