// Two machines and a wire between them, as network namespaces of the kernel: an internet of one machine, and the one to deploy on.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Addresses of documentation (RFC 5737): they lead nowhere outside of the namespaces. */
export const INTERNET = "203.0.113.1";
export const PUBLIC_IP = "203.0.113.7";
/** Where `ip netns exec` looks for files that stand in the place of those in /etc. */
const NETNS_ETC = "/etc/netns";

export interface TestNetwork {
  /** Namespace in which DNS, the certificate authority and visitors are. */
  readonly internet: string;
  /** Namespace of the platform's machine. */
  readonly machine: string;
  readonly close: () => void;
}

/** Why there can be no such network here; false when there can. */
export function findNetworkSkipReason(): string | false {
  if (process.getuid?.() !== 0) {
    return "needs root, for network namespaces";
  }
  try {
    createTestNetwork().close();
    return false;
  } catch (error) {
    return `needs network namespaces and veth (Debian's package iproute2, and a kernel that has them): ${String(error)}`;
  }
}

export function createTestNetwork(): TestNetwork {
  const [internet, machine] = ["internet", "machine"].map((name) => `swath-${process.pid}-${name}`) as [string, string];
  const folders = [internet, machine].map((name) => join(NETNS_ETC, name));
  const close = () => {
    ip("netns", "del", internet);
    ip("netns", "del", machine);
    folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
  };
  try {
    for (const [index, namespace] of [internet, machine].entries()) {
      must("netns", "add", namespace);
      must("-n", namespace, "link", "set", "lo", "up");
      const folder = folders[index] ?? "";
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "resolv.conf"), `nameserver ${INTERNET}\noptions timeout:2\n`);
    }
    must("link", "add", "wire0", "netns", internet, "type", "veth", "peer", "name", "wire1", "netns", machine);
    for (const [namespace, device, address] of [
      [internet, "wire0", INTERNET],
      [machine, "wire1", PUBLIC_IP],
    ] as const) {
      must("-n", namespace, "addr", "add", `${address}/24`, "dev", device);
      must("-n", namespace, "link", "set", device, "up");
    }
  } catch (error) {
    close();
    throw error;
  }
  return { internet, machine, close };
}

const ip = (...args: readonly string[]) => spawnSync("ip", args, { encoding: "utf8" });

function must(...args: readonly string[]): void {
  const { status, stderr } = ip(...args);
  if (status !== 0) {
    throw new Error(`ip ${args.join(" ")}: ${stderr}`);
  }
}
