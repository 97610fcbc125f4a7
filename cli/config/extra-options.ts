import { isIP } from "node:net";

/** A port of this machine that leads to a port of the cluster. */
export interface PortMapping {
  /** Address of this machine it is bound to; the listen address when left out. */
  readonly address?: string;
  readonly machinePort: number;
  /** 80 and 443 are the ingress's. */
  readonly clusterPort: number;
}

export interface ExtraOptions {
  readonly ports: readonly PortMapping[];
  readonly listenAddress?: string;
  /** Options only the cluster tool understands, as they were written. */
  readonly others: readonly string[];
  readonly problems: readonly string[];
}

/** Reads LOCALCLUSTER_EXTRA_OPTIONS: `--ports=80:80,443:443 --listen-address=0.0.0.0 --driver=none`. */
export function parseExtraOptions(text: string): ExtraOptions {
  const problems: string[] = [];
  const ports: PortMapping[] = [];
  const others: string[] = [];
  let listenAddress: string | undefined;
  const words = splitWords(text, problems);
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? "";
    const [name = "", inline] = splitOnce(word, "=");
    if (name !== "--ports" && name !== "--listen-address") {
      others.push(word);
      continue;
    }
    const value = inline ?? words[++i];
    if (value === undefined) {
      problems.push(`${name} has no value`);
    } else if (name === "--ports") {
      ports.push(...parsePorts(value, problems));
    } else if (isIP(value) === 0) {
      problems.push(`--listen-address=${value} is not an IP address`);
    } else {
      listenAddress = value;
    }
  }
  return { ports, others, problems, ...(listenAddress === undefined ? {} : { listenAddress }) };
}

/** `[address:]machine:cluster`, or one number for both; several with commas. */
function parsePorts(list: string, problems: string[]): PortMapping[] {
  const mappings: PortMapping[] = [];
  for (const item of list.split(",").filter((one) => one !== "")) {
    const match = /^(?:(\[[^\]]*\]|[^:[\]]*):)?(?:(\d{1,5}):)?(\d{1,5})(?:\/tcp)?$/.exec(item);
    // `80:80` matches with 80 as an address: an address has a dot or brackets, or is empty.
    const parts = match === null ? undefined : placeParts(match[1], match[2], match[3] ?? "");
    const address = parts?.address?.replace(/^\[|\]$/g, "");
    const machinePort = Number(parts?.machine);
    const clusterPort = Number(parts?.cluster);
    if (parts === undefined || !isPort(machinePort) || !isPort(clusterPort)) {
      problems.push(`--ports=${item} is not of the form [address:]machine-port:cluster-port`);
    } else if (address !== undefined && isIP(address) === 0) {
      problems.push(`--ports=${item}: ${address} is not an IP address`);
    } else {
      mappings.push({ machinePort, clusterPort, ...(address === undefined ? {} : { address }) });
    }
  }
  return mappings;
}

function placeParts(
  first: string | undefined,
  second: string | undefined,
  last: string,
): { address?: string; machine: string; cluster: string } {
  if (first === undefined) {
    return { machine: second ?? last, cluster: last };
  }
  if (second === undefined && /^\d+$/.test(first)) {
    return { machine: first, cluster: last };
  }
  return { machine: second ?? last, cluster: last, ...(first === "" ? {} : { address: first }) };
}

function isPort(number: number): boolean {
  return number >= 1 && number <= 65_535;
}

/** Words as a shell would split them: by white space, except inside quotes. */
function splitWords(text: string, problems: string[]): string[] {
  const words: string[] = [];
  for (const match of text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*'|["'])+/g)) {
    const word = match[0].replace(
      /"([^"]*)"|'([^']*)'/g,
      (_, double?: string, single?: string) => double ?? single ?? "",
    );
    if (/["']/.test(match[0].replace(/"[^"]*"|'[^']*'/g, ""))) {
      problems.push(`${match[0]} has a quotation mark that is never closed`);
    }
    words.push(word);
  }
  return words;
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
