import { SocketAgent } from "@swath/relay";
import { parsePeerUrl } from "@swath/service";
import { request } from "node:http";

const TIMEOUT_MS = 2000;

/** Whether a server answers a request, with whatever is no fault of its own. */
export function answersAt(url: string, path: string): Promise<boolean> {
  const { origin, socketPath } = parsePeerUrl(url);
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    const outgoing = request(
      {
        ...(socketPath === undefined ? { host: hostname, port: port || 80 } : { socketPath }),
        path,
        agent: new SocketAgent(),
        headers: { host: "localhost" },
        timeout: TIMEOUT_MS,
      },
      (response) => {
        response.resume();
        resolve((response.statusCode ?? 500) < 500);
      },
    );
    outgoing.on("timeout", () => outgoing.destroy());
    outgoing.on("error", () => resolve(false));
    outgoing.end();
  });
}
