import { chmodSync, chownSync, rmSync } from "node:fs";
import type { Server } from "node:net";

/** Where a server listens: a unix socket on the embedded cluster, a TCP port in a pod. */
export type ListenAddress = UnixAddress | { readonly host: string; readonly port: number };

interface UnixAddress {
  readonly path: string;
  /** Number of the group whose processes may connect besides those of the owner. */
  readonly group?: number;
}

/**
 * Reads `unix:/run/x.sock`, `unix:/run/x.sock?group=61184`, `:8080`, `127.0.0.1:8080`, `[::1]:8080`; port 0 asks for a free one.
 * @throws {TypeError} for anything else
 */
export function parseListenAddress(text: string): ListenAddress {
  const unix = /^unix:(\/[^?]*)(?:\?group=(\d{1,10}))?$/.exec(text);
  if (unix?.[1] !== undefined) {
    return { path: unix[1], ...(unix[2] !== undefined && { group: Number(unix[2]) }) };
  }
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  if (match === null) {
    throw new TypeError(`"${text}" is not a listen address; allowed: unix:/path, :8080, 127.0.0.1:8080, [::1]:8080`);
  }
  return { host: match[1] ?? match[2] ?? "", port: Number(match[3]) };
}

/** Starts listening and resolves with the address in use. A socket left by a killed predecessor is replaced. */
export async function listen(server: Server, address: ListenAddress): Promise<ListenAddress> {
  const isUnix = "path" in address;
  if (isUnix) {
    rmSync(address.path, { force: true });
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const target =
      "path" in address ? { path: address.path } : { port: address.port, ...(address.host && { host: address.host }) };
    // The socket is made in this call; no other user may connect before its mode is set.
    const mask = isUnix ? process.umask(0o177) : undefined;
    server.listen({ ...target, backlog: 4096 }, () => {
      server.off("error", reject);
      resolve();
    });
    if (mask !== undefined) {
      process.umask(mask);
    }
  });
  if (isUnix) {
    if (address.group !== undefined) {
      chownSync(address.path, -1, address.group);
    }
    // Folders may let other users pass: the mode of the socket keeps them out.
    chmodSync(address.path, address.group === undefined ? 0o600 : 0o660);
    return address;
  }
  const bound = server.address();
  return { host: address.host, port: typeof bound === "object" && bound !== null ? bound.port : address.port };
}
