import type { Plan } from "../../../platform/plan.ts";
import type { Connection } from "../api/connection.ts";
import { forEachConcurrent } from "../api/objects.ts";
import { ADMISSION_POLICY_MINOR } from "../render/admission-policy.ts";
import type { Check } from "./check.ts";

interface Access {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
}

const APPLY = ["get", "list", "create", "patch", "delete"];

/** Everything that apply, delete and the commands that look at a deployment ask of the API. */
const needed: readonly Access[] = [
  { group: "", resource: "namespaces", verbs: APPLY },
  { group: "", resource: "secrets", verbs: APPLY },
  { group: "", resource: "configmaps", verbs: APPLY },
  { group: "", resource: "services", verbs: APPLY },
  { group: "", resource: "serviceaccounts", verbs: APPLY },
  { group: "", resource: "persistentvolumeclaims", verbs: APPLY },
  { group: "", resource: "pods", verbs: ["get", "list", "delete"] },
  { group: "", resource: "pods/log", verbs: ["get"] },
  { group: "", resource: "pods/portforward", verbs: ["create"] },
  { group: "", resource: "events", verbs: ["list"] },
  { group: "apps", resource: "deployments", verbs: APPLY },
  { group: "apps", resource: "statefulsets", verbs: APPLY },
  { group: "apps", resource: "daemonsets", verbs: APPLY },
  { group: "batch", resource: "jobs", verbs: APPLY },
  { group: "policy", resource: "poddisruptionbudgets", verbs: APPLY },
  { group: "autoscaling", resource: "horizontalpodautoscalers", verbs: APPLY },
  { group: "networking.k8s.io", resource: "ingresses", verbs: APPLY },
  { group: "networking.k8s.io", resource: "networkpolicies", verbs: APPLY },
  { group: "networking.k8s.io", resource: "ingressclasses", verbs: ["list"] },
  { group: "storage.k8s.io", resource: "storageclasses", verbs: ["list"] },
  { group: "coordination.k8s.io", resource: "leases", verbs: ["get", "create", "update", "delete"] },
  { group: "rbac.authorization.k8s.io", resource: "roles", verbs: APPLY },
  { group: "rbac.authorization.k8s.io", resource: "rolebindings", verbs: APPLY },
  { group: "rbac.authorization.k8s.io", resource: "clusterroles", verbs: APPLY },
  { group: "rbac.authorization.k8s.io", resource: "clusterrolebindings", verbs: APPLY },
];

/** What the user of the context may not do and the deployment has to. */
export const checkPermissions: Check = async ({ connection, plan, minor }) => {
  const problems: string[] = [];
  await forEachConcurrent(
    [...needed, ...listGateway(plan), ...listGranted(plan), ...listAdmission(plan, minor)],
    async (access) => {
      if (await isAllowed(connection, access, "*")) {
        return;
      }
      const allowed = await Promise.all(access.verbs.map((verb) => isAllowed(connection, access, verb)));
      const missing = access.verbs.filter((_, index) => !allowed[index]);
      if (missing.length > 0) {
        const name = access.group === "" ? access.resource : `${access.resource}.${access.group}`;
        problems.push(`the user of this context may not ${missing.join(", ")} ${name} in all namespaces`);
      }
    },
  );
  return [...new Set(problems)].toSorted();
};

/** Nobody may give a service rights that they do not have themselves. */
function listGranted({ workloads }: Plan): readonly Access[] {
  return workloads
    .flatMap(({ clusterRole, deploymentRules, ownNamespaces }) => [
      ...(clusterRole?.rules ?? []),
      ...(deploymentRules ?? []),
      ...(ownNamespaces === undefined
        ? []
        : [
            ...ownNamespaces.rules,
            { apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: ["bind"] },
          ]),
    ])
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.map((resource) => ({ group, resource, verbs }))),
    );
}

function listGateway({ settings }: Plan): readonly Access[] {
  const group = "gateway.networking.k8s.io";
  return settings.variables.GATEWAY === undefined
    ? []
    : [
        { group, resource: "httproutes", verbs: APPLY },
        { group, resource: "gateways", verbs: ["get"] },
      ];
}

function listAdmission({ workloads }: Plan, minor: number): readonly Access[] {
  return minor < ADMISSION_POLICY_MINOR ||
    !workloads.some((workload) => workload.ownNamespaces !== undefined || workload.secretsInNamespaces !== undefined)
    ? []
    : ["validatingadmissionpolicies", "validatingadmissionpolicybindings"].map((resource) => ({
        group: "admissionregistration.k8s.io",
        resource,
        verbs: APPLY,
      }));
}

async function isAllowed(
  { authorization }: Connection,
  { group, resource: name }: Access,
  verb: string,
): Promise<boolean> {
  const [resource = "", subresource] = name.split("/");
  const { status } = await authorization.createSelfSubjectAccessReview({
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { group, resource, verb, ...(subresource !== undefined && { subresource }) } },
    },
  });
  return status?.allowed === true;
}
