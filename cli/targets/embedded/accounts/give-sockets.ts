import { chownSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Gives the sockets of a process to another user. Linux lets a successor listen on the same port (SO_REUSEPORT) only where the sockets
 * have the same owner: without this, an ingress of another account could not relieve the one before it.
 */
export function giveSockets(pid: number, uid: number): void {
  const folder = `/proc/${pid}/fd`;
  for (const name of unlessGone(() => readdirSync(folder)) ?? []) {
    const descriptor = join(folder, name);
    unlessGone(() => {
      if (readlinkSync(descriptor).startsWith("socket:") && statSync(descriptor).uid !== uid) {
        chownSync(descriptor, uid, -1);
      }
    });
  }
}

/** A process may end, and a connection close, at any moment. */
function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) {
      return undefined;
    }
    throw error;
  }
}
