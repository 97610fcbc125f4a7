import { parsePeerUrl } from "@swath/service";
import { type Server, connect, createServer } from "node:net";
import { connect as connectSecurely } from "node:tls";

/** Leads connections to the object storage, for the files of workspaces; where it is HTTPS, in TLS. Listens on nothing yet. */
export function createStorageWay(url: string): Server {
  const { origin, socketPath } = parsePeerUrl(url);
  const { protocol, hostname, port } = new URL(origin);
  return createServer({ allowHalfOpen: true }, (near) => {
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
}
