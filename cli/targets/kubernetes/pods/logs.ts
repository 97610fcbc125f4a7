import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { createInterface } from "node:readline";

import type { Connection } from "../api/connection.ts";
import { KubernetesError, describeApiError, statusOf } from "../kubernetes-error.ts";
import { listLivePods } from "./list-pods.ts";
import type { LivePod } from "./live-pod.ts";

/** Bytes of a log that one call reads at most. */
const MOST = 16 * 1024 * 1024;

/** The last lines of a pod's log; of its program's last run where the present one has said nothing yet. */
export async function tailLog(
  connection: Connection,
  clusterName: string,
  name: string,
  lines: number,
): Promise<readonly string[]> {
  const pod = await findPod(connection, clusterName, name);
  if (pod === undefined) {
    return [];
  }
  const own = await read(connection, pod, lines, false);
  const hasEnded = (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0;
  return own.length === 0 && hasEnded ? read(connection, pod, lines, true) : own;
}

/** The log from its last `lines` on, as it grows, until the signal or the pod's end. */
export async function* followLog(
  connection: Connection,
  clusterName: string,
  name: string,
  lines: number,
  signal: AbortSignal,
): AsyncIterable<string> {
  const pod = await findPod(connection, clusterName, name);
  if (pod === undefined) {
    return;
  }
  const stream = await openLog(connection, pod, lines);
  const end = () => stream.destroy();
  signal.addEventListener("abort", end, { once: true });
  try {
    for await (const line of createInterface({ input: stream })) {
      yield line;
    }
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

/** The client's own way to follow a log cannot be ended without an error that nobody catches. */
async function openLog(
  { config, server }: Connection,
  { metadata: { name, namespace } }: LivePod,
  lines: number,
): Promise<IncomingMessage> {
  const url = new URL(`${server.replace(/\/$/, "")}/api/v1/namespaces/${namespace}/pods/${name}/log?follow=true`);
  if (lines < Number.MAX_SAFE_INTEGER) {
    url.searchParams.set("tailLines", String(lines));
  }
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, options, resolve).on("error", reject).end();
  });
  if (response.statusCode !== 200) {
    response.destroy();
    throw new KubernetesError(`the log of pod ${namespace}/${name} cannot be followed: status ${response.statusCode}`);
  }
  return response;
}

async function read(
  { core }: Connection,
  { metadata: { name, namespace }, status }: LivePod,
  lines: number,
  previous: boolean,
): Promise<readonly string[]> {
  // What has no node yet has no log, which the API server says with an empty answer of no type.
  if (status?.containerStatuses === undefined) {
    return [];
  }
  try {
    const text = await core.readNamespacedPodLog({
      name,
      namespace,
      previous,
      limitBytes: MOST,
      ...(lines < Number.MAX_SAFE_INTEGER && { tailLines: lines }),
    });
    return text === "" ? [] : text.replace(/\n$/, "").split("\n");
  } catch (error) {
    // A container that has not been made yet has no log.
    if (statusOf(error) === 400 || statusOf(error) === 404) {
      return [];
    }
    return [`(the log cannot be read: ${describeApiError(error)})`];
  }
}

async function findPod(connection: Connection, clusterName: string, name: string): Promise<LivePod | undefined> {
  const pods = await listLivePods(connection, clusterName);
  return (
    pods.find(({ metadata }) => metadata.name === name) ??
    pods.findLast(({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === name)
  );
}
