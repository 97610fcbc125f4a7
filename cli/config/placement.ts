import { isIP } from "node:net";
import { addressLabels, isLoopbackAddress } from "./addresses.ts";
import type { ParsedArguments } from "./arguments.ts";
import type { Origin, RuleContext } from "./define.ts";
import { parseExtraOptions, type ExtraOptions } from "./extra-options.ts";

interface Placed {
  readonly value: string;
  readonly origin: Origin;
}

/** Unspecified address: nobody said where the cluster is. */
export const unknownAddress = "0.0.0.0";

/** The public address: the argument, or the cluster's. */
export function findAddress(args: ParsedArguments, { get, facts }: RuleContext): Placed {
  if (args.publicIp !== undefined) {
    return { value: args.publicIp, origin: { kind: "argument" } };
  }
  const address = facts.clusterIp ?? unknownAddress;
  if (get("USE_LOADBALANCER_ADDON") && get("LOCALCLUSTER_TOOL") === "minikube" && isIP(address) === 4) {
    return {
      value: address.replace(/\d+$/, "123"),
      origin: { kind: "derived", rule: "the cluster's address with 123 as its last number, for the load balancer" },
    };
  }
  return { value: address, origin: { kind: "derived", rule: "the cluster's address" } };
}

/** The domain: the argument, the one kept for this cluster, or a name made of the public address. */
export function findDomain(args: ParsedArguments, context: RuleContext): Placed {
  const { get, variant, facts, clusterName } = context;
  if (args.domain !== undefined) {
    return { value: args.domain, origin: { kind: "argument" } };
  }
  if (isEmbedded(context) && args.publicIp === undefined && facts.keptDomain !== undefined) {
    return { value: facts.keptDomain, origin: { kind: "derived", rule: "the domain this cluster had before" } };
  }
  const suffix = get("WILDCARD_DNS_SUFFIX");
  if (isEmbedded(context) && !facts.wildcardDnsResolves) {
    return {
      value: `${clusterName}.localhost`,
      origin: {
        kind: "derived",
        rule: `<cluster-name>.localhost, because names below ${suffix} do not resolve on this machine`,
      },
    };
  }
  return {
    value: `${addressLabels(context.publicIp(), variant)}.${suffix}`,
    origin: { kind: "derived", rule: "<public address>.<WILDCARD_DNS_SUFFIX>" },
  };
}

/** True when the ingress of this deployment binds to loopback addresses only. */
export function listensOnLoopback(args: ParsedArguments, context: RuleContext): boolean {
  if (!isEmbedded(context)) {
    return false;
  }
  const { ports, listenAddress } = parseExtraOptions(context.get("LOCALCLUSTER_EXTRA_OPTIONS"));
  const otherwise = listenAddress ?? args.publicIp ?? "127.0.0.1";
  const addresses = ports.length === 0 ? [otherwise] : ports.map(({ address }) => address ?? otherwise);
  return addresses.every(isLoopbackAddress);
}

/** The port people reach the scheme on. */
export function findPublicPort(scheme: "http" | "https", { ports }: ExtraOptions, context: RuleContext): number {
  const standard = scheme === "https" ? 443 : 80;
  if (!isEmbedded(context)) {
    return standard;
  }
  const mapped = ports.find(({ clusterPort }) => clusterPort === standard)?.machinePort;
  return context.facts.ingressPorts?.[scheme] ?? mapped ?? standard;
}

function isEmbedded({ get }: RuleContext): boolean {
  return get("REQUIRE_LOCALCLUSTER") && get("LOCALCLUSTER_TOOL") === "embedded";
}
