import { isIP } from "node:net";
import { isDomainName } from "./addresses.ts";
import type { Mistake } from "./report.ts";

export const actions = ["apply", "delete", "template"] as const;
export type Action = (typeof actions)[number];

/** The positional arguments of the deployment script, as they were typed. */
export interface DeployArguments {
  readonly action?: string | undefined;
  readonly clusterName?: string | undefined;
  readonly arg3?: string | undefined;
  readonly arg4?: string | undefined;
}

export interface ParsedArguments {
  readonly action: Action;
  readonly clusterName: string;
  readonly domain?: string;
  readonly publicIp?: string;
  readonly mistakes: readonly Mistake[];
}

export const deployUsage = `usage: swath.sh [<action> [<cluster-name> [<domain> [<public-ip>]]]]     (variant A)
       swath.sh [<action> [<cluster-name> [<public-ip> [<domain>]]]]     (variant B)
       either order is understood in both variants; an empty argument is one left out

  action        apply (default), delete or template
  cluster-name  name of the local cluster, default swath
  domain        stem of the host names, default <cluster-ip>.<wildcard DNS suffix>
  public-ip     address of the ingress, default the cluster's
                domain and public-ip can be given by the environment variables domain and public_ip instead
  -y, --yes     do not ask before services are removed that this deployment no longer has
  --for VERSION          template: objects for this version of Kubernetes, such as 1.34
  --secrets none|only    template: without Secrets; or nothing else, with new values for all that nobody gave
  --layout kustomize|helm --out FOLDER
                template: a file an object, as a tree that Argo CD, Flux, kubectl -k or helm apply; Secrets sealed or left out
  --no-backup   make no backup before a version that changes the data replaces another (apply, embedded cluster)
  --sealed CERTIFICATE
                print Secrets as SealedSecrets that the controller with this certificate opens (template)`;

/** Sorts the positional arguments out. Every mistake is reported; a wrong argument counts as left out. */
export function parseArguments(explicit: DeployArguments): ParsedArguments {
  const mistakes: Mistake[] = [];
  const action = actions.find((one) => one === (explicit.action ?? "")) ?? "apply";
  if (isPresent(explicit.action) && explicit.action !== action) {
    mistakes.push({
      subject: "action",
      value: explicit.action,
      problem: "is not an action",
      allowed: actions.join(", "),
    });
  }
  let clusterName = "swath";
  if (isPresent(explicit.clusterName)) {
    if (toAddress(explicit.clusterName) !== undefined) {
      mistakes.push({
        subject: "cluster-name",
        value: explicit.clusterName,
        problem: "is an address, where the name of the cluster belongs",
        usage: true,
      });
    } else if (actions.some((one) => one === explicit.clusterName)) {
      mistakes.push({
        subject: "cluster-name",
        value: explicit.clusterName,
        problem: "is an action, where the name of the cluster belongs",
        usage: true,
      });
    } else if (/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/.test(explicit.clusterName)) {
      clusterName = explicit.clusterName;
    } else {
      mistakes.push({
        subject: "cluster-name",
        value: explicit.clusterName,
        problem: "is not a name for a cluster",
        allowed: "up to 40 letters a-z, digits and -, beginning and ending with a letter or digit",
      });
    }
  }
  return {
    action,
    clusterName,
    mistakes,
    ...placeAddresses([explicit.arg3, explicit.arg4].filter(isPresent), mistakes),
  };
}

function placeAddresses(
  values: readonly string[],
  mistakes: Mistake[],
): { readonly domain?: string; readonly publicIp?: string } {
  const addresses: string[] = [];
  const names: string[] = [];
  for (const value of values) {
    const address = toAddress(value);
    const name = value.toLowerCase().replace(/\.$/, "");
    if (address !== undefined) {
      addresses.push(address);
    } else if (isDomainName(name)) {
      names.push(name);
    } else {
      mistakes.push({
        subject: "argument",
        value,
        problem: "is neither a domain nor an IP address",
        allowed: "a DNS name of at most 200 characters, or an IPv4 or IPv6 address",
        usage: true,
      });
    }
  }
  if (addresses.length > 1) {
    mistakes.push({
      subject: "arguments",
      value: values.join(" "),
      problem: "are two addresses, where one is a domain and the other the public address",
      usage: true,
    });
    return {};
  }
  if (names.length > 1) {
    mistakes.push({
      subject: "arguments",
      value: values.join(" "),
      problem: "are two domains, where one is the domain and the other the public address",
      usage: true,
    });
    return {};
  }
  const [publicIp] = addresses;
  const [domain] = names;
  return { ...(domain === undefined ? {} : { domain }), ...(publicIp === undefined ? {} : { publicIp }) };
}

/** The address without the brackets it may have, or undefined. */
function toAddress(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  return isIP(bare) === 0 || bare.includes("%") ? undefined : bare.toLowerCase();
}

function isPresent(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}
