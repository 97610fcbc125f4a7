import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";

import type { Check } from "../finding.ts";

const TIMEOUT_MS = 2000;

/** Ports of the ingress, and whether the names of the services lead here. */
export const checkNetwork: Check = async ({ prepared: { cluster, notes, resolution } }) => {
  const ports = `${cluster.httpPort} and ${cluster.httpsPort}`;
  const { domain, publicIp, onLoopback } = resolution.config;
  const host = `identity.${domain}`;
  const addresses = await findAddresses(host);
  return [
    notes.length === 0
      ? { verdict: "good", subject: "ports", found: `${ports}${onLoopback ? ", for this machine alone" : ""}` }
      : {
          verdict: "limited",
          subject: "ports",
          found: `${ports}; ${notes.join(" ")}`,
          meaning: "Addresses of services have a port number in them.",
          advice: "Run as root, allow it once (sysctl net.ipv4.ip_unprivileged_port_start=80), or stop what has them.",
        },
    addresses.includes(publicIp)
      ? { verdict: "good", subject: "names", found: `${host} is ${publicIp}` }
      : domain.endsWith(".localhost")
        ? {
            verdict: "limited",
            subject: "names",
            found: `${host} is known to browsers and curl only`,
            meaning: "Python, aws, gdal and other programs on this machine do not find the services by themselves.",
            advice: `bin/swath hosts --write${cluster.name === "swath" ? "" : ` ${cluster.name}`} (after apply)`,
          }
        : {
            verdict: "bad",
            subject: "names",
            found: addresses.length === 0 ? `${host} does not resolve` : `${host} is ${addresses.join(", ")}`,
            meaning: `People do not find the services: every name below ${domain} has to lead to ${publicIp}.`,
            advice: `Add a wildcard record (*.${domain} A ${publicIp}) to your DNS, or leave the domain out.`,
          },
  ];
};

async function findAddresses(host: string): Promise<readonly string[]> {
  const found = lookup(host, { all: true }).then(
    (all) => all.map(({ address }) => address),
    () => [],
  );
  return await Promise.race([found, sleep(TIMEOUT_MS, [], { ref: false })]);
}
