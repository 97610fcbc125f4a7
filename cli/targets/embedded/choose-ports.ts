import { createServer } from "node:net";

/** Ports of the ingress. */
export interface IngressPorts {
  readonly http: number;
  readonly https: number;
}

interface ChoosePortsOptions {
  readonly desired: IngressPorts;
  /** The operator asked for these ports, so no others will do. */
  readonly isProvided: boolean;
  /** Addresses that the ingress is to listen on. */
  readonly addresses: readonly string[];
  /** Whether a port can be had; replaced in tests. */
  readonly tryPort?: (address: string, port: number) => Promise<PortResponse>;
}

export type PortResponse = "free" | "taken" | "forbidden" | "no such address";

/** The ports that were asked for cannot be had. */
export class PortError extends Error {
  override readonly name = "PortError";
}

export interface ChosenPorts extends IngressPorts {
  /** Why they are not the wanted ones. */
  readonly reason?: string;
}

/** Pairs to fall back on, in order, where 80 and 443 are not to be had. */
const FALLBACKS: readonly IngressPorts[] = Array.from({ length: 20 }, (_, index) => ({
  http: 8080 + 100 * index,
  https: 8443 + 100 * index,
}));

/**
 * Finds ports for the ingress: the wanted ones, or (unless they are the operator's own wish) 8080 and 8443 where the user may
 * not bind 80 and 443 or somebody else has them, and so on.
 * @throws {PortError} saying which port, why, and what to do
 */
export async function choosePorts(options: ChoosePortsOptions): Promise<ChosenPorts> {
  const { desired, isProvided, addresses, tryPort = callForPort } = options;
  const conflict = await findConflict(desired, addresses, tryPort);
  if (conflict === undefined) {
    return desired;
  }
  if (!isProvided || conflict.answer === "forbidden") {
    for (const pair of FALLBACKS) {
      if ((await findConflict(pair, addresses, tryPort)) === undefined) {
        return { ...pair, reason: describeConflict(conflict) };
      }
    }
  }
  throw new PortError(
    `${describeConflict(conflict)}. ` +
      (conflict.answer === "taken"
        ? `Stop the program that has it (ss -ltnp 'sport = :${conflict.port}' names it), or choose other ports: LOCALCLUSTER_EXTRA_OPTIONS=--ports=9080:80,9443:443`
        : "Choose others: LOCALCLUSTER_EXTRA_OPTIONS=--ports=9080:80,9443:443"),
  );
}

interface PortConflict {
  readonly address: string;
  readonly port: number;
  readonly answer: PortResponse;
}

async function findConflict(
  { http, https }: IngressPorts,
  addresses: readonly string[],
  tryPort: NonNullable<ChoosePortsOptions["tryPort"]>,
): Promise<PortConflict | undefined> {
  for (const port of new Set([http, https])) {
    for (const address of addresses) {
      const response = await tryPort(address, port);
      if (response !== "free") {
        return { address, port, answer: response };
      }
    }
  }
  return undefined;
}

function describeConflict({ address, port, answer: response }: PortConflict): string {
  const reasons: Record<PortResponse, string> = {
    free: "is free",
    taken: `is taken on ${address} by another program`,
    forbidden: "may not be used by this user (ports below 1024 are root's)",
    "no such address": `cannot be used: this machine has no address ${address}`,
  };
  return `port ${port} ${reasons[response]}`;
}

function callForPort(host: string, port: number): Promise<PortResponse> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      const responses: Record<string, PortResponse> = {
        EADDRINUSE: "taken",
        EACCES: "forbidden",
        EPERM: "forbidden",
        EADDRNOTAVAIL: "no such address",
      };
      const response = responses[error.code ?? ""];
      if (response === undefined) {
        reject(error);
      } else {
        resolve(response);
      }
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve("free")));
  });
}
