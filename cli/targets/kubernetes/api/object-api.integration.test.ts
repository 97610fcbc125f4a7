import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { KubeConfig } from "@kubernetes/client-node";
import type { KubernetesObject } from "@swath/kubernetes";

import { describeApiError, statusOf } from "../kubernetes-error.ts";
import { createObjectApi } from "./object-api.ts";

const RESOURCES: Readonly<Record<string, readonly object[]>> = {
  "/api/v1": [
    { name: "namespaces", kind: "Namespace", namespaced: false },
    { name: "pods/log", kind: "Pod", namespaced: true },
    { name: "pods", kind: "Pod", namespaced: true },
  ],
  "/apis/networking.k8s.io/v1": [{ name: "networkpolicies", kind: "NetworkPolicy", namespaced: true }],
};

interface Received {
  readonly method: string;
  readonly path: string;
  readonly type: string | undefined;
  readonly body: unknown;
}

let server: Server;
let received: Received[] = [];
const config = new KubeConfig();

/** Records what a client sends, and returns it as an API server does. */
before(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = new URL(request.url ?? "", "http://x").pathname;
      const text = Buffer.concat(chunks).toString();
      const body = text === "" ? undefined : (JSON.parse(text) as unknown);
      received.push({
        method: request.method ?? "",
        path: request.url ?? "",
        type: request.headers["content-type"],
        body,
      });
      response.setHeader("content-type", "application/json");
      if (RESOURCES[path] !== undefined) {
        response.end(JSON.stringify({ resources: RESOURCES[path] }));
      } else if (path.startsWith("/apis/") && !path.startsWith("/apis/networking")) {
        response.writeHead(404).end(JSON.stringify({ kind: "Status", message: "the server could not find it" }));
      } else if (path.endsWith("/pods")) {
        response.end(JSON.stringify({ items: [{ metadata: { name: "a" } }] }));
      } else {
        response.end(text);
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  config.loadFromClusterAndUser(
    { name: "c", server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
    { name: "u", token: "t" },
  );
});
after(() => server.close());

const policy: KubernetesObject = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "allow-x", namespace: "zoo" },
  spec: {
    podSelector: {},
    policyTypes: ["Ingress"],
    ingress: [{ from: [{ podSelector: { matchLabels: { a: "b" } } }], ports: [{ port: 5432, protocol: "TCP" }] }],
    futureField: { _from: 1, continue: true },
  },
};

test("an object is sent as it is, every field of it", async () => {
  received = [];
  const live = await createObjectApi(config).apply(policy, "swath");
  const patch = received.find(({ method }) => method === "PATCH");
  assert.deepEqual(patch?.body, policy);
  assert.deepEqual(live, policy);
  assert.equal(patch?.type, "application/apply-patch+yaml");
  assert.equal(
    patch?.path,
    "/apis/networking.k8s.io/v1/namespaces/zoo/networkpolicies/allow-x?fieldManager=swath&force=true",
  );
});

test("objects of the whole cluster have no namespace in their path; lists name the kind of their items", async () => {
  received = [];
  const api = createObjectApi(config);
  await api.delete(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "zoo" } },
    { propagationPolicy: "Background" },
  );
  const items = await api.list({ apiVersion: "v1", kind: "Pod" }, { labels: "a=b,c" });
  assert.deepEqual(items, [{ metadata: { name: "a" }, apiVersion: "v1", kind: "Pod" }]);
  assert.deepEqual(
    received.map(({ method, path }) => `${method} ${path}`),
    ["GET /api/v1", "DELETE /api/v1/namespaces/zoo", "GET /api/v1/pods?labelSelector=a%3Db%2Cc"],
  );
});

test("a kind or a group that the cluster lacks is a 404", async () => {
  const api = createObjectApi(config);
  for (const kind of [
    { apiVersion: "v1", kind: "Nonsense" },
    { apiVersion: "example.org/v1", kind: "Thing" },
  ]) {
    await assert.rejects(api.list(kind, {}), (error: unknown) => {
      assert.equal(statusOf(error), 404);
      assert.match(describeApiError(error), /no kind Nonsense|could not find it/);
      return true;
    });
  }
});
