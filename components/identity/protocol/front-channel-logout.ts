import { html } from "@swath/pages";

import type { IdentityContext } from "../context.ts";
import { SECURITY_HEADERS } from "../oidc/provider.ts";
import { renderPage } from "../pages/layout.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { listFrontChannels } from "../store/logout-notices.ts";

/** Attributes of clients, by the names that the known provider has for them. */
export const FRONT_CHANNEL_URL = "frontchannel.logout.url";
export const FRONT_CHANNEL_SESSION = "frontchannel.logout.session.required";

/** Seconds that pages of clients get to end their logins before the browser goes on. */
const SECONDS = 3;

/** Addresses of the pages that end a session at its clients (OpenID Connect Front-Channel Logout 1.0 §2); asked before it ends. */
export async function findLogoutFrames(
  { pool }: IdentityContext,
  { realm, issuer }: RealmHandle,
  sessionId: string,
): Promise<readonly string[]> {
  return (await listFrontChannels(pool, realm.id, sessionId)).flatMap((attributes) => {
    const url = attributes[FRONT_CHANNEL_URL] ?? "";
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      return [];
    }
    const address = new URL(url);
    // Left out it is wanted, as the known provider has it.
    if (attributes[FRONT_CHANNEL_SESSION] !== "false") {
      address.searchParams.set("iss", issuer);
      address.searchParams.set("sid", sessionId);
    }
    return [address.href];
  });
}

interface LogoutFrames {
  readonly headers: Readonly<Record<string, string>>;
  readonly page: string;
}

/** A page that opens those addresses in frames and then goes on to `target`, where there is one. */
export function renderLogoutFrames(frames: readonly string[], target: string | undefined): LogoutFrames {
  const origins = [...new Set(frames.map((frame) => new URL(frame).origin))].join(" ");
  const policy = SECURITY_HEADERS["content-security-policy"] ?? "";
  return {
    headers: {
      ...SECURITY_HEADERS,
      "content-security-policy": `${policy}; frame-src ${origins}`,
      ...(target !== undefined && { refresh: `${SECONDS};url=${target}` }),
    },
    page: renderPage({
      title: "Logged out",
      content: html`<h1>You are logged out</h1>
        ${
          target === undefined
            ? html`<p>You may close this window.</p>`
            : html`<p><a href="${target}">Go on</a>, or wait a moment.</p>`
        }
        ${frames.map((frame) => html`<iframe hidden title="Logging out" src="${frame}"></iframe>`)}`,
    }),
  };
}
