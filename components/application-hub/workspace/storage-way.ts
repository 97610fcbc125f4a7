import { type ListenAddress, listen, parsePeerUrl } from "@swath/service";
import { type Server, connect, createServer } from "node:net";
import { connect as connectSecurely } from "node:tls";

/** Leads connections on these addresses to the object storage, for the files of workspaces; where it is HTTPS, in TLS. */
export async function leadToStorage(url: string, addresses: readonly ListenAddress[]): Promise<readonly Server[]> {
  const { origin, socketPath } = parsePeerUrl(url);
  const { protocol, hostname, port } = new URL(origin);
  const servers: Server[] = [];
  for (const address of addresses) {
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const far =
        socketPath !== undefined
          ? connect({ path: socketPath, allowHalfOpen: true })
          : protocol === "https:"
            ? connectSecurely({ host: hostname, port: Number(port || 443), servername: hostname })
            : connect({ host: hostname, port: Number(port || 80), allowHalfOpen: true });
      near.on("error", () => far.destroy());
      far.on("error", () => near.destroy());
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
      near.pipe(far).pipe(near);
    });
    await listen(server, address);
    servers.push(server);
  }
  return servers;
}
