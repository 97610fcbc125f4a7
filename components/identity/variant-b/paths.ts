import type { LoginFace } from "../context.ts";

/** Endpoints of the login service below `/<provider>/restv1`, and those of the realm that answer there. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  authorize: "protocol/openid-connect/auth",
  token: "protocol/openid-connect/token",
  userinfo: "protocol/openid-connect/userinfo",
  jwks: "protocol/openid-connect/certs",
  end_session: "protocol/openid-connect/logout",
  introspection: "protocol/openid-connect/token/introspect",
  "rpt/status": "protocol/openid-connect/token/introspect",
  revoke: "protocol/openid-connect/revoke",
  device_authorization: "protocol/openid-connect/auth/device",
  par: "protocol/openid-connect/ext/par/request",
  "host/rsrc/resource_set": "authz/protection/resource_set",
  "host/rsrc_pr": "authz/protection/permission",
};

const RESOURCE = "host/rsrc/resource_set/";

/** `/<provider>/restv1`, which every endpoint of the login service is below. */
export const loginBase = ({ provider }: Pick<LoginFace, "provider">): string => `/${provider}/restv1`;

/**
 * Where a path of the login service is answered: it has the realm's endpoints under names of its own, and no second implementation of
 * any of them. Other paths stay as they are.
 */
export function createPathMap(face: Pick<LoginFace, "provider" | "realm">): (url: string) => string {
  const base = `${loginBase(face)}/`;
  return (url) => {
    if (!url.startsWith(base)) {
      return url;
    }
    const end = url.indexOf("?");
    const path = (end < 0 ? url : url.slice(0, end)).slice(base.length).replace(/\/$/, "");
    const query = end < 0 ? "" : url.slice(end);
    const known = Object.hasOwn(ENDPOINTS, path)
      ? ENDPOINTS[path]
      : path.startsWith(RESOURCE)
        ? `authz/protection/resource_set/${path.slice(RESOURCE.length)}`
        : undefined;
    return known === undefined ? url : `/realms/${face.realm}/${known}${query}`;
  };
}
