import { oauthCallbackOf, oauthClientOf } from "../oauth/provider.ts";
import type { ServerRow } from "../store/servers.ts";
import { servicePrefix } from "./names.ts";

interface EnvironmentDeps {
  readonly publicUrl: string;
  readonly originOf: (label: string) => string;
  readonly services: Readonly<Record<string, string>>;
  readonly s3: { readonly url: string; readonly region: string } | undefined;
  readonly workspacePrefix: string;
}

/** JupyterHub's variables of a single-user server, and the platform's. Addresses on the inside are the spawner's to say. */
export function environmentOf(
  { publicUrl, originOf, services, s3, workspacePrefix }: EnvironmentDeps,
  { user_name: user, name, label, definition }: ServerRow,
  token: string,
): Readonly<Record<string, string>> {
  const full = `${user}/${name}`;
  const access = JSON.stringify([`access:servers!server=${full}`, `access:servers!user=${user}`]);
  const fixed = Object.entries(definition.pod_env_vars ?? {}).flatMap(([variable, value]) => {
    const map =
      typeof value === "object"
        ? definition.config_maps?.find((each) => each.name === value.from_config_map.name)
        : undefined;
    return typeof value === "object"
      ? map?.content === undefined || map.content === null
        ? []
        : [[variable, map.content] as const]
      : [[variable, String(value)] as const];
  });
  return {
    ...Object.fromEntries(fixed),
    JUPYTERHUB_API_TOKEN: token,
    JPY_API_TOKEN: token,
    JUPYTERHUB_CLIENT_ID: oauthClientOf(user, name),
    JUPYTERHUB_HOST: publicUrl,
    JUPYTERHUB_PUBLIC_URL: `${originOf(label)}${servicePrefix(user, name)}`,
    JUPYTERHUB_PUBLIC_HUB_URL: `${publicUrl}/hub/`,
    JUPYTERHUB_BASE_URL: "/",
    JUPYTERHUB_SERVICE_PREFIX: servicePrefix(user, name),
    JUPYTERHUB_OAUTH_CALLBACK_URL: oauthCallbackOf(originOf(label), user, name),
    JUPYTERHUB_OAUTH_SCOPES: access,
    JUPYTERHUB_OAUTH_ACCESS_SCOPES: access,
    JUPYTERHUB_OAUTH_CLIENT_ALLOWED_SCOPES: "[]",
    JUPYTERHUB_USER: user,
    JUPYTERHUB_SERVER_NAME: name,
    JUPYTERHUB_ACTIVITY_INTERVAL: "60",
    ...(definition.default_url && { JUPYTERHUB_DEFAULT_URL: definition.default_url }),
    SWATH_SERVICES: JSON.stringify(services),
    SWATH_WORKSPACE: `${workspacePrefix}-${user}`,
    ...(s3 && {
      AWS_ENDPOINT_URL_S3: s3.url,
      AWS_DEFAULT_REGION: s3.region,
      AWS_REGION: s3.region,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: `token ${token}`,
    }),
  };
}
