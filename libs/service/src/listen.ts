import { chmodSync, rmSync } from "node:fs";
import type { Server } from "node:net";

/** Where a server listens: a unix socket on the embedded cluster, a TCP port in a pod. */
export type ListenAddress = { readonly path: string } | { readonly host: string; readonly port: number };

/**
 * Reads `unix:/run/x.sock`, `:8080`, `127.0.0.1:8080`, `[::1]:8080`; port 0 asks for a free one.
 * @throws {TypeError} for anything else
 */
export function parseListenAddress(text: string): ListenAddress {
  if (text.startsWith("unix:/")) {
    return { path: text.slice("unix:".length) };
  }
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  if (match === null) {
    throw new TypeError(`"${text}" is not a listen address; allowed: unix:/path, :8080, 127.0.0.1:8080, [::1]:8080`);
  }
  return { host: match[1] ?? match[2] ?? "", port: Number(match[3]) };
}

/** Starts listening and resolves with the address in use. A socket left by a killed predecessor is replaced. */
export async function listen(server: Server, address: ListenAddress): Promise<ListenAddress> {
  if ("path" in address) {
    rmSync(address.path, { force: true });
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const target =
      "path" in address ? { path: address.path } : { port: address.port, ...(address.host && { host: address.host }) };
    server.listen({ ...target, backlog: 4096 }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  if ("path" in address) {
    // The folder already keeps other users out; this holds even where somebody opened it.
    chmodSync(address.path, 0o600);
    return address;
  }
  const bound = server.address();
  return { host: address.host, port: typeof bound === "object" && bound !== null ? bound.port : address.port };
}
