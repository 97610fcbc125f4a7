import { Duplex, PassThrough } from "node:stream";

import type { PortForward } from "@kubernetes/client-node";

import type { Connection } from "../api/connection.ts";
import { loadClient } from "../client/load-client.ts";
import { describeApiError } from "../kubernetes-error.ts";

interface PodAddress {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** A connection to a port of a pod, through the API server. */
export async function connectToPod({ config }: Connection, { namespace, pod, port }: PodAddress): Promise<Duplex> {
  const fromPod = new PassThrough();
  const toPod = new PassThrough();
  const errors = new PassThrough();
  const stream = Duplex.from({ readable: fromPod, writable: toPod });
  // What the kubelet says when nobody listens there; the connection ends with it.
  errors.on("data", (text: Buffer) => stream.destroy(new Error(`pod ${namespace}/${pod}: ${text.toString().trim()}`)));
  let socket: Awaited<ReturnType<PortForward["portForward"]>>;
  try {
    const client = await loadClient();
    socket = await new client.PortForward(config).portForward(namespace, pod, [port], fromPod, errors, toPod);
  } catch (cause) {
    throw new Error(`pod ${namespace}/${pod} cannot be reached: ${describeApiError(cause)}`, { cause });
  }
  if (typeof socket !== "function") {
    socket.addEventListener("close", () => fromPod.end());
    stream.on("close", () => socket.close());
  }
  return stream;
}
