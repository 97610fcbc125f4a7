import { renameSync } from "node:fs";
import { type Server, createServer } from "node:net";

/** A socket that listens and that nothing accepts from yet. */
export interface OpenSocket {
  readonly descriptor: number;
  /** Shows it at its path and closes this process's own descriptor. */
  readonly hand: () => void;
  readonly close: () => void;
}

/**
 * Makes the socket of a server before its program starts, which gets the descriptor: the folder of the socket need not be
 * seen, let alone written, by a program that the platform does not know.
 */
export async function openSocket(path: string): Promise<OpenSocket> {
  const server = createServer();
  const first = `${path}.new`;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(first, resolve);
  });
  return {
    descriptor: descriptorOf(server),
    hand: () => {
      // Closing removes the path that it was bound to, and no other.
      renameSync(first, path);
      server.close();
    },
    close: () => server.close(),
  };
}

/** Node.js has no public way to it. @throws {Error} where it has none at all */
function descriptorOf(server: Server): number {
  const { _handle: handle } = server as unknown as { readonly _handle?: { readonly fd?: number } };
  if (handle?.fd === undefined || handle.fd < 0) {
    throw new Error("this Node.js does not tell the descriptor of a socket");
  }
  return handle.fd;
}
