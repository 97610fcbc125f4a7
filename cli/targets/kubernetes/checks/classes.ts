import type { Connection } from "../api/connection.ts";
import { listObjects, readObject } from "../api/objects.ts";
import { HTTP_ROUTE } from "../render/http-routes.ts";
import type { Check } from "./check.ts";

/** Storage classes of the volumes; the class of the hosts; the issuer of certificates. */
export const checkClasses: Check = async ({ connection, plan }) => {
  const { variables } = plan.settings;
  const [storage, ingress, issuers] = await Promise.all([
    names(connection, "storage.k8s.io/v1", "StorageClass"),
    names(connection, "networking.k8s.io/v1", "IngressClass"),
    variables.USE_TLS && !variables.REQUIRE_ACME_ISSUERS && !variables.REQUIRE_CERTIFICATE_MANAGER
      ? names(connection, "cert-manager.io/v1", "ClusterIssuer")
      : undefined,
  ]);
  const desired = [...new Set(plan.volumes.map(({ storageClass }) => storageClass))];
  const problems = desired
    .filter((name) => !storage.includes(name))
    .map(
      (name) =>
        `the cluster has no storage class "${name}"; it has: ${storage.join(", ") || "none"} (DEFAULT_STORAGE, or the variable of a component's own)`,
    );
  if (variables.GATEWAY !== undefined) {
    problems.push(...(await checkGateway(connection, variables.GATEWAY)));
  } else if (
    !variables.REQUIRE_INGRESS_CONTROLLER &&
    plan.routes.length > 0 &&
    !ingress.includes(variables.INGRESS_CLASS)
  ) {
    problems.push(
      `the cluster has no ingress class "${variables.INGRESS_CLASS}" (INGRESS_CLASS); it has: ${ingress.join(", ") || "none"}. Install ingress-nginx, or let the deployment do it: REQUIRE_INGRESS_CONTROLLER=true`,
    );
  }
  if (variables.REQUIRE_INGRESS_CONTROLLER && !variables.USE_INGRESS_CONTROLLER_HELM) {
    const services = await listObjects(
      connection,
      { apiVersion: "v1", kind: "Service" },
      { namespace: "ingress-nginx" },
    );
    if (!services.some(({ metadata }) => metadata.name === "ingress-nginx-controller")) {
      problems.push(
        "the cluster has no ingress controller of its own (service ingress-nginx/ingress-nginx-controller); install the published chart: USE_INGRESS_CONTROLLER_HELM=true",
      );
    }
  }
  if (issuers !== undefined && !issuers.includes(variables.TLS_CLUSTER_ISSUER)) {
    problems.push(
      `the cluster has no certificate issuer "${variables.TLS_CLUSTER_ISSUER}" (TLS_CLUSTER_ISSUER); it has: ${issuers.join(", ") || "none"}. Let the deployment install them (REQUIRE_CERTIFICATE_MANAGER=true, REQUIRE_ACME_ISSUERS=true), or set USE_TLS=false`,
    );
  }
  return problems;
};

async function names(connection: Connection, apiVersion: string, kind: string): Promise<readonly string[]> {
  return (await listObjects(connection, { apiVersion, kind }, {})).map(({ metadata }) => metadata.name);
}

async function checkGateway(connection: Connection, gateway: string): Promise<readonly string[]> {
  const [namespace = "", name = ""] = gateway.split("/");
  const found = await readObject(connection, {
    apiVersion: HTTP_ROUTE.apiVersion,
    kind: "Gateway",
    metadata: { namespace, name },
  });
  return found === undefined
    ? [
        `the cluster has no Gateway ${gateway} of ${HTTP_ROUTE.apiVersion} (GATEWAY); kubectl get gateways -A lists those that there are`,
      ]
    : [];
}
