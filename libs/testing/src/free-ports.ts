import { createServer } from "node:net";

/**
 * Below the ports that the system gives to whoever asks for any, clients too (from 32768 on, where nobody changed that): one of
 * those may be somebody else's by the time that it is used. And below those of Kubernetes' services (from 30000 on).
 */
const FIRST = 10_000;
/** Ports that one process looks at before those of the next: test files run beside each other. */
const OF_ONE = 20;
const COUNT = 20_000;

let looks = 0;

/** Ports of the loopback interface that nobody listens on, and that nobody is given by chance. No port is given twice. */
export async function findFreePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    if (looks === COUNT) {
      throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is free`);
    }
    const port = FIRST + ((process.pid * OF_ONE + looks) % COUNT);
    looks += 1;
    if (await isFree(port)) {
      ports.push(port);
    }
  }
  return ports;
}

/** One of {@link findFreePorts}. */
export async function findFreePort(): Promise<number> {
  const [port = 0] = await findFreePorts(1);
  return port;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port }, () => server.close(() => resolve(true)));
  });
}
