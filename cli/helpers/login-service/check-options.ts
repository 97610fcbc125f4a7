import type { Variables } from "@swath/manifest";

import type { Plan } from "../../platform/plan.ts";

/** Variables that decide what there is to protect; each is a text or a truth value. */
const CHECKED = [
  "PLATFORM_VARIANT",
  "USE_TLS",
  "OPEN_INGRESS",
  "LOGIN_PROVIDER",
  "REQUIRE_LOGIN_SERVICE",
  "REQUIRE_PDP",
  "REQUIRE_DUMMY_SERVICE",
  "REQUIRE_DUMMY_SERVICE_PROTECTION",
  "REQUIRE_ADES",
  "REQUIRE_ADES_PROTECTION",
  "REQUIRE_RESOURCE_CATALOGUE_PROTECTION",
  "REQUIRE_DATA_ACCESS_PROTECTION",
  "REQUIRE_WORKSPACE_API",
  "REQUIRE_WORKSPACE_API_PROTECTION",
  "REQUIRE_PORTAL",
] as const satisfies readonly (keyof Variables)[];

/** What the options of the protection script say otherwise than the deployment, one sentence each. */
export function listContradictions(
  { settings }: Pick<Plan, "settings">,
  provided: {
    readonly domain?: string | undefined;
    readonly publicIp?: string | undefined;
    readonly env: NodeJS.ProcessEnv;
  },
): readonly string[] {
  const { variables, domain, publicIp } = settings;
  return [
    ...CHECKED.flatMap((name) => {
      const value = provided.env[name];
      const deployed = String(variables[name]);
      return value !== undefined && value !== "" && value !== deployed
        ? [`${name} is ${value}, but the deployment has ${deployed}`]
        : [];
    }),
    ...(provided.domain !== undefined && provided.domain !== "" && provided.domain !== domain
      ? [`the domain is ${provided.domain}, but the deployment has ${domain}`]
      : []),
    ...(provided.publicIp !== undefined && provided.publicIp !== "" && provided.publicIp !== publicIp
      ? [`the public address is ${provided.publicIp}, but the deployment has ${publicIp}`]
      : []),
  ];
}
