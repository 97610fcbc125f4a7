import { isLocalDomain } from "../addresses.ts";
import { unknownAddress } from "../placement.ts";
import { parseSize } from "../quantities.ts";
import { isEmbedded, type ContradictionRule } from "./rule.ts";

/** The cluster, its addresses and its size. */
export const clusterRules: readonly ContradictionRule[] = [
  {
    subject: "domain",
    impossible: true,
    check: ({ config }) =>
      config.publicIp === unknownAddress && config.origins.domain.kind !== "argument" && config.action === "apply"
        ? "must be given: the address of the cluster is not known, so no domain can be made from it"
        : undefined,
  },
  {
    subject: "domain",
    check: ({ config }) =>
      config.publicIp === unknownAddress && config.origins.domain.kind !== "argument" && config.action !== "apply"
        ? `is not given and the address of the cluster is not known; ${config.domain} is used`
        : undefined,
  },
  {
    subject: "domain",
    check: (input) =>
      isEmbedded(input) && input.config.origins.domain.kind === "derived" && !input.facts.wildcardDnsResolves
        ? `names below ${input.variables.WILDCARD_DNS_SUFFIX} do not resolve on this machine, so the domain is ${input.config.domain}`
        : undefined,
  },
  {
    subject: "domain",
    check: ({ config }) =>
      config.domain === "localhost"
        ? "is localhost alone, for which browsers keep no cookies of several hosts: use a name below it, like swath.localhost"
        : undefined,
  },
  {
    subject: "SERVICE_MONITORS",
    impossible: true,
    check: ({ variables: v }) =>
      v.SERVICE_MONITORS && v.METRICS_NAMESPACE === undefined
        ? "needs METRICS_NAMESPACE: the namespace of the Prometheus that may read the metrics"
        : undefined,
  },
  {
    subject: "SERVICE_REPLICAS_MAX",
    check: ({ variables: v }) =>
      v.SERVICE_REPLICAS_MAX !== undefined && v.SERVICE_REPLICAS_MAX <= v.SERVICE_REPLICAS
        ? `is not above SERVICE_REPLICAS (${v.SERVICE_REPLICAS}), so there is no autoscaler`
        : undefined,
  },
  {
    subject: "GATEWAY",
    check: ({ variables: v }) =>
      v.GATEWAY !== undefined && v.REQUIRE_INGRESS_CONTROLLER
        ? "is given and REQUIRE_INGRESS_CONTROLLER is true: the ingress controller that is installed has no host to serve"
        : undefined,
  },
  {
    subject: "TLS_CLUSTER_ISSUER",
    check: ({ config, variables: v }) =>
      v.TLS_CLUSTER_ISSUER.startsWith("letsencrypt-") &&
      v.ACME_DIRECTORY_URL === undefined &&
      isLocalDomain(config.domain)
        ? `is ${v.TLS_CLUSTER_ISSUER}, which cannot sign for the local domain ${config.domain}`
        : undefined,
  },
  {
    subject: "TLS_CLUSTER_ISSUER",
    check: (input) =>
      input.variables.TLS_CLUSTER_ISSUER === "local-ca" && !isEmbedded(input)
        ? "is local-ca, which only the embedded cluster brings: this cluster must have an issuer of that name"
        : undefined,
  },
  {
    subject: "LOCALCLUSTER_EXTRA_OPTIONS",
    impossible: true,
    check: ({ config }) =>
      config.extraOptions.problems.length > 0 ? config.extraOptions.problems.join("; ") : undefined,
  },
  {
    subject: "LOCALCLUSTER_EXTRA_OPTIONS",
    check: (input) =>
      isEmbedded(input) && input.config.extraOptions.others.length > 0
        ? `holds ${input.config.extraOptions.others.join(" ")}, which the embedded cluster does not have and ignores`
        : undefined,
  },
  {
    subject: "REQUIRE_INGRESS_CONTROLLER",
    check: (input) =>
      isEmbedded(input) && !input.variables.REQUIRE_INGRESS_CONTROLLER
        ? "is false, but the embedded cluster always has its own ingress"
        : undefined,
  },
  {
    subject: "USE_INGRESS_CONTROLLER_LOADBALANCER",
    check: (input) =>
      !isEmbedded(input) &&
      input.variables.USE_INGRESS_CONTROLLER_LOADBALANCER &&
      input.variables.USE_INGRESS_CONTROLLER_HELM &&
      input.isExplicit("USE_INGRESS_CONTROLLER_LOADBALANCER")
        ? "has no effect while USE_INGRESS_CONTROLLER_HELM is true"
        : undefined,
  },
  {
    subject: "PROCESSING_MAX_RAM",
    check: ({ variables: v }) => {
      const most = parseSize(v.PROCESSING_MAX_RAM, "kubernetes");
      const there = parseSize(v.LOCALCLUSTER_MEMORY_AMOUNT, "tool");
      return v.REQUIRE_LOCALCLUSTER &&
        v.REQUIRE_ADES &&
        typeof most === "number" &&
        typeof there === "number" &&
        most > there
        ? `is ${v.PROCESSING_MAX_RAM}, more than the cluster's LOCALCLUSTER_MEMORY_AMOUNT of ${v.LOCALCLUSTER_MEMORY_AMOUNT}`
        : undefined;
    },
  },
];
