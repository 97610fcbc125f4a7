import assert from "node:assert/strict";
import { test } from "node:test";

import { type ClusterApi, ClusterApiError, type WatchEvent } from "@swath/kubernetes/api";
import { createLogger } from "@swath/service";
import { waitUntil } from "@swath/testing";

import { startBinder } from "./binder.ts";
import { type Namespace, findRefusal } from "./find-refusal.ts";

const DEPLOYMENT = "swath";
const roles = [
  { role: "swath-hub", account: "application-hub", accountNamespace: "proc" },
  { role: "swath-reconciler", account: "workspace-reconciler", accountNamespace: "rm" },
];
const toNamespace = (name: string, labels: Readonly<Record<string, string>> = {}): Namespace => ({
  metadata: {
    name,
    labels: {
      "swath.io/workspace": name,
      "swath.io/deployment": DEPLOYMENT,
      "pod-security.kubernetes.io/enforce": "restricted",
      ...labels,
    },
  },
});

/** An API server with these namespaces, which tells what was bound in the order in which it came. */
function openFakeApi(namespaces: readonly Namespace[]) {
  const bound: string[] = [];
  const events: WatchEvent<Namespace>[] = [];
  const refused = new Set<string>();
  const bindings = new Map<string, object>();
  const api: Pick<ClusterApi, "get" | "apply" | "watch"> = {
    get: async <T>(path: string) => {
      const items = path.endsWith("/namespaces") ? namespaces : [...bindings.values()];
      return { metadata: { resourceVersion: "1" }, items } as T;
    },
    apply: async <T>(path: string, object: object) => {
      const [, namespace = "", name = ""] = /namespaces\/([^/]+)\/rolebindings\/(.+)$/.exec(path) ?? [];
      if (refused.has(namespace)) {
        throw new ClusterApiError(404, "NotFound", "it is gone");
      }
      bound.push(`${namespace}/${name}`);
      bindings.set(path, object);
      return object as T;
    },
    watch: async function* <T>(_path: string, _query: object, signal: AbortSignal) {
      while (!signal.aborted) {
        yield* events.splice(0) as WatchEvent<T>[];
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
  return {
    api,
    bound,
    refused,
    tell: (type: WatchEvent<Namespace>["type"], object: Namespace) => events.push({ type, object }),
    forget: () => bindings.clear(),
  };
}

const start = (api: Pick<ClusterApi, "get" | "apply" | "watch">, relistMs = 60_000) =>
  startBinder({ api, logger: createLogger("namespace-binder", "silent"), deployment: DEPLOYMENT, roles, relistMs });

test("gives rights in namespaces of this deployment's workspaces that hold pods to the restricted standard", () => {
  assert.equal(findRefusal(toNamespace("ws-eric"), DEPLOYMENT), undefined);
  assert.match(findRefusal({ metadata: { name: "kube-system" } }, DEPLOYMENT) ?? "", /workspace is not its name/);
  for (const [label, value] of [
    ["swath.io/workspace", "ws-bob"],
    ["swath.io/deployment", "other"],
    ["pod-security.kubernetes.io/enforce", "privileged"],
  ] as const) {
    assert.match(findRefusal(toNamespace("ws-eric", { [label]: value }), DEPLOYMENT) ?? "", new RegExp(label));
  }
});

test("binds what is there, what is made later and what was made again, each account once", async () => {
  const { api, bound, tell } = openFakeApi([toNamespace("ws-a"), toNamespace("ws-b", { "swath.io/deployment": "x" })]);
  const binder = start(api);
  try {
    await waitUntil("the first are bound", () => bound.length === 2);
    binder.checkReady();
    tell("ADDED", toNamespace("ws-c"));
    tell("ADDED", { metadata: { name: "kube-system", labels: { "swath.io/workspace": "ws-c" } } });
    tell("MODIFIED", toNamespace("ws-c"));
    tell("MODIFIED", { ...toNamespace("ws-d"), status: { phase: "Terminating" } });
    tell("DELETED", toNamespace("ws-a"));
    tell("ADDED", toNamespace("ws-a"));
    await waitUntil("it is bound again", () => bound.length >= 6);
  } finally {
    await binder.stop();
  }
  const both = (name: string) => [`${name}/application-hub`, `${name}/workspace-reconciler`];
  assert.deepEqual(bound, [...both("ws-a"), ...both("ws-c"), ...both("ws-a")]);
});

test("a namespace that cannot be bound holds up no other, and a removed RoleBinding comes back", async () => {
  const { api, bound, refused, forget } = openFakeApi([toNamespace("ws-a"), toNamespace("ws-b")]);
  refused.add("ws-a");
  const binder = start(api, 20);
  try {
    await waitUntil("the other is bound", () => bound.length === 2);
    refused.clear();
    await waitUntil("the first is bound at the next look", () => bound.length === 4);
    forget();
    await waitUntil("all are bound again", () => bound.length === 8);
  } finally {
    await binder.stop();
  }
  assert.deepEqual(new Set(bound.slice(0, 2)), new Set(["ws-b/application-hub", "ws-b/workspace-reconciler"]));
});
