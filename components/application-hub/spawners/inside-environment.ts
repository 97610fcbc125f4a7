import type { Launch } from "./spawner.ts";

/** Ports on the loopback of a server that lead to the hub, to the way out, and to the object storage: nobody else is there. */
export const HUB_PORT = 8081;
export const PROXY_PORT = 3128;
export const STORAGE_PORT = 9000;

/**
 * What a server with a network of its own finds on its loopback (`process/inside.cjs`).
 * @param own where it is to listen: `http://127.0.0.1:8888`
 */
export function insideEnvironment(
  { user, base, profile }: Pick<Launch, "user" | "base" | "profile">,
  own: string,
): Readonly<Record<string, string>> {
  const hub = `http://127.0.0.1:${HUB_PORT}/hub/api`;
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  return {
    JUPYTERHUB_API_URL: hub,
    JUPYTERHUB_ACTIVITY_URL: `${hub}/users/${encodeURIComponent(user)}/activity`,
    JUPYTERHUB_SERVICE_URL: `${own}${base}`,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${hub}/swath/s3-credentials`,
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
    ...(profile.egress !== "none" && {
      ...Object.fromEntries(["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map((name) => [name, proxy])),
      NODE_USE_ENV_PROXY: "1",
    }),
  };
}
