import { createServer } from "node:net";

/** Below what the system gives to servers on port 0 and to connections (32768 and up), and to services of a cluster (30000 and up). */
const FIRST = 20_000;
const COUNT = 10_000;

/**
 * A port of the loopback interface that nobody listens on, for a server that has to know its address before it starts. It is this
 * process's own until it ends: neither another test nor a connection gets it between now and then.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    // A name in Linux's abstract namespace, which is free again the moment this process ends.
    const release = await tryListen({ path: `\0swath-test-port/${port}` });
    if (release !== undefined) {
      const close = await tryListen({ host: "127.0.0.1", port });
      if (close !== undefined) {
        await close();
        return port;
      }
      await release();
    }
  }
  throw new Error(`no port from ${FIRST} to ${FIRST + COUNT - 1} is free`);
}

/** Several of them. */
export const findFreePorts = (count: number): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: count }, findFreePort));

/** Listens, without keeping the process alive; gives what ends it, or `undefined` where somebody else listens. */
function tryListen(
  place: { path: string } | { host: string; port: number },
): Promise<(() => Promise<void>) | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(place, () => {
      server.unref();
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}
