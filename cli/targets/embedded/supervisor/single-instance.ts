import { createServer } from "node:net";

/** Somebody else holds the name. */
export class NameTakenError extends Error {
  override readonly name = "NameTakenError";
}

/**
 * Holds a name that one process on this machine can have at a time, and that is free again the moment the process ends,
 * however it ends: a socket in Linux's abstract namespace. (A lock file would outlive a kill -9.)
 * @throws {NameTakenError}
 */
export function acquireLock(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new NameTakenError(name, { cause: error }) : error),
    );
    server.listen(`\0swath/${process.getuid?.() ?? 0}/${name}`, () => {
      server.unref();
      resolve(() => server.close());
    });
  });
}
