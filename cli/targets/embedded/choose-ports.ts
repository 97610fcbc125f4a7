import { createServer } from "node:net";

/** Ports of the ingress. */
export interface IngressPorts {
  readonly http: number;
  readonly https: number;
}

interface ChoosePortsOptions {
  readonly wanted: IngressPorts;
  /** The operator asked for these ports, so no others will do. */
  readonly isGiven: boolean;
  /** Addresses that the ingress is to listen on. */
  readonly addresses: readonly string[];
  /** Whether a port can be had; replaced in tests. */
  readonly tryPort?: (address: string, port: number) => Promise<PortAnswer>;
}

export type PortAnswer = "free" | "taken" | "forbidden" | "no such address";

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
  const { wanted, isGiven, addresses, tryPort = askForPort } = options;
  const obstacle = await findObstacle(wanted, addresses, tryPort);
  if (obstacle === undefined) {
    return wanted;
  }
  if (!isGiven || obstacle.answer === "forbidden") {
    for (const pair of FALLBACKS) {
      if ((await findObstacle(pair, addresses, tryPort)) === undefined) {
        return { ...pair, reason: describeObstacle(obstacle) };
      }
    }
  }
  throw new PortError(
    `${describeObstacle(obstacle)}. ` +
      (obstacle.answer === "taken"
        ? `Stop the program that has it (ss -ltnp 'sport = :${obstacle.port}' names it), or choose other ports: LOCALCLUSTER_EXTRA_OPTIONS=--ports=9080:80,9443:443`
        : "Choose others: LOCALCLUSTER_EXTRA_OPTIONS=--ports=9080:80,9443:443"),
  );
}

interface Obstacle {
  readonly address: string;
  readonly port: number;
  readonly answer: PortAnswer;
}

async function findObstacle(
  { http, https }: IngressPorts,
  addresses: readonly string[],
  tryPort: NonNullable<ChoosePortsOptions["tryPort"]>,
): Promise<Obstacle | undefined> {
  for (const port of new Set([http, https])) {
    for (const address of addresses) {
      const answer = await tryPort(address, port);
      if (answer !== "free") {
        return { address, port, answer };
      }
    }
  }
  return undefined;
}

function describeObstacle({ address, port, answer }: Obstacle): string {
  const reasons: Record<PortAnswer, string> = {
    free: "is free",
    taken: `is taken on ${address} by another program`,
    forbidden: "may not be used by this user (ports below 1024 are root's)",
    "no such address": `cannot be used: this machine has no address ${address}`,
  };
  return `port ${port} ${reasons[answer]}`;
}

function askForPort(host: string, port: number): Promise<PortAnswer> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      const answers: Record<string, PortAnswer> = {
        EADDRINUSE: "taken",
        EACCES: "forbidden",
        EPERM: "forbidden",
        EADDRNOTAVAIL: "no such address",
      };
      const answer = answers[error.code ?? ""];
      if (answer === undefined) {
        reject(error);
      } else {
        resolve(answer);
      }
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve("free")));
  });
}
