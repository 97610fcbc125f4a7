import { randomUUID } from "node:crypto";

import type { IdentityContext } from "../context.ts";
import type { Change } from "../store/changes.ts";
import { type LogoutNotice, deleteLogoutNotice, takeLogoutNotices } from "../store/logout-notices.ts";

/** Attributes of clients, by the names that the known provider has for them. */
export const BACK_CHANNEL_URL = "backchannel.logout.url";
export const BACK_CHANNEL_SESSION = "backchannel.logout.session.required";

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** A logout token is fresh when it arrives. */
const TOKEN_SECONDS = 120;
/** Notices that were not taken at once are looked for this often. */
const INTERVAL_MS = 2000;

/** Tells clients of sessions that have ended (OpenID Connect Back-Channel Logout 1.0 §2.5), until they have heard it or an hour is over. */
export function startLogoutDelivery(context: IdentityContext): { readonly stop: () => Promise<void> } {
  const { changes, logger } = context;
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;
  const run = async (): Promise<void> => {
    while (isWanted && !isStopped) {
      isWanted = false;
      try {
        // As long as there are many at once.
        isWanted = (await deliverLogouts(context)) > 0 || isWanted;
      } catch (error) {
        logger.warn({ err: error }, "cannot tell clients of ended sessions; trying again later");
      }
    }
  };
  const wake = () => {
    isWanted = true;
    running ??= run().finally(() => (running = undefined));
  };
  const onChange = ({ kind }: Change) => {
    if (kind === "session" || kind === "user") {
      wake();
    }
  };
  changes.events.on("change", onChange);
  const timer = setInterval(wake, INTERVAL_MS);
  timer.unref();
  return {
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      changes.events.off("change", onChange);
      await running;
    },
  };
}

/** One round. @returns how many notices were due */
async function deliverLogouts(context: IdentityContext): Promise<number> {
  const notices = await takeLogoutNotices(context.pool);
  await Promise.all(notices.map((notice) => deliver(context, notice)));
  return notices.length;
}

async function deliver(context: IdentityContext, notice: LogoutNotice): Promise<void> {
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
  }
}
