import { isDeepStrictEqual } from "node:util";

import { findOnlyOn } from "../variables/targets.ts";
import { variableNames } from "../variables/table.ts";
import { type ContradictionInput, type ContradictionRule, isEmbedded } from "./rule.ts";

/** Names what was set and means nothing where the deployment runs. The default may be set anywhere: option files list all variables. */
export const effectRules: readonly ContradictionRule[] = [
  ...variableNames.map((subject): ContradictionRule => ({
    subject,
    check: (input) => (isChanged(input, subject) ? describeTarget(input, subject) : undefined),
  })),
  ...(["DATA_ACCESS_STORAGE", "RESOURCE_CATALOGUE_STORAGE"] as const).map((subject): ContradictionRule => ({
    subject,
    check: (input) =>
      isChanged(input, subject) ? "has no effect: this component keeps nothing on a volume" : undefined,
  })),
  {
    subject: "REGISTRY_STORAGE",
    check: (input) =>
      !isEmbedded(input) && isChanged(input, "REGISTRY_STORAGE") && input.variables.REGISTRY_CONTENT === "objstore"
        ? "has no effect while REGISTRY_CONTENT is objstore: images are in the object storage"
        : undefined,
  },
  ...(["IDENTITY_ADMIN_ROLE", "IDENTITY_ROLES_CLAIM"] as const).map((subject): ContradictionRule => ({
    subject,
    check: (input) =>
      isChanged(input, subject) && input.variables.IDENTITY_ISSUER_URL === undefined
        ? "has no effect without IDENTITY_ISSUER_URL: the deployed identity service has the role and the claim of its own"
        : undefined,
  })),
  {
    subject: "REQUIRE_STORAGE",
    check: (input) =>
      isChanged(input, "REQUIRE_STORAGE")
        ? "has no effect: each component that is deployed brings the volumes that it needs"
        : undefined,
  },
  {
    subject: "PROCESSING_HOST_TOOLS_EXPOSED",
    check: (input) =>
      isEmbedded(input) &&
      input.variables.PROCESSING_HOST_TOOLS_EXPOSED &&
      (input.variables.PROCESSING_HOST_TOOLS !== "open" || input.config.onLoopback)
        ? "has no effect unless PROCESSING_HOST_TOOLS is open and other machines reach the ingress"
        : undefined,
  },
];

function isChanged(
  { variables, isExplicit, defaultOf }: ContradictionInput,
  name: ContradictionRule["subject"],
): boolean {
  return (
    name !== "domain" &&
    name !== "public-ip" &&
    isExplicit(name) &&
    !isDeepStrictEqual(variables[name], defaultOf(name))
  );
}

function describeTarget(input: ContradictionInput, name: (typeof variableNames)[number]): string | undefined {
  const target = isEmbedded(input) ? "the embedded cluster" : "Kubernetes";
  const place = findOnlyOn(name);
  if (place === "a local cluster") {
    return input.variables.REQUIRE_LOCALCLUSTER
      ? undefined
      : "has no effect while REQUIRE_LOCALCLUSTER is false: the size of an existing cluster is not changed";
  }
  if (place !== undefined && place !== target) {
    return `has no effect on ${target}`;
  }
  return ["LOCALCLUSTER_VERSION", "LOCALCLUSTER_DISK_AMOUNT"].includes(name) && !input.variables.REQUIRE_LOCALCLUSTER
    ? "has no effect while REQUIRE_LOCALCLUSTER is false"
    : undefined;
}
