import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";

function render(env: Readonly<Record<string, string>>) {
  const { config } = resolveConfig({
    env: { REQUIRE_LOCALCLUSTER: "false", ...env },
    args: { arg3: "eo.example.org", arg4: "203.0.113.7" },
    facts: { clusterIp: "127.0.0.1", wildcardDnsResolves: true },
  });
  return renderPlan(createPlan(config, components));
}

// oxlint-disable-next-line typescript/no-explicit-any -- objects are looked into freely
const specOf = (object: unknown): any => (object as any).spec;
const pods = (objects: ReturnType<typeof render>) =>
  objects
    .filter(({ kind }) => ["Deployment", "StatefulSet", "Job"].includes(kind))
    .map((object) => specOf(object).template.spec);

test("services are spread over nodes; nothing else is asked of a cluster by itself", () => {
  for (const pod of pods(render({}))) {
    const isTask = pod.restartPolicy === "OnFailure";
    assert.equal(pod.topologySpreadConstraints?.[0].topologyKey, isTask ? undefined : "kubernetes.io/hostname");
    for (const field of ["nodeSelector", "tolerations", "priorityClassName", "imagePullSecrets"]) {
      assert.equal(pod[field], undefined);
    }
  }
});

test("nodes, taints, priority and pull secrets reach every pod", () => {
  const all = pods(
    render({
      POD_NODE_SELECTOR: "disk=ssd",
      POD_TOLERATIONS: "dedicated=eo:NoSchedule,spot",
      POD_PRIORITY_CLASS: "platform",
      IMAGE_PULL_SECRETS: "one,two",
    }),
  );
  assert.ok(all.length > 5);
  for (const pod of all) {
    assert.deepEqual(pod.nodeSelector, { disk: "ssd" });
    assert.equal(pod.tolerations.length, 2);
    assert.equal(pod.priorityClassName, "platform");
    assert.deepEqual(pod.imagePullSecrets, [{ name: "one" }, { name: "two" }]);
  }
});

test("hosts have the class of INGRESS_CLASS", () => {
  const classes = render({ INGRESS_CLASS: "traefik" })
    .filter(({ kind, metadata }) => kind === "Ingress" && metadata.name !== "portal")
    .map((object) => specOf(object).ingressClassName);
  assert.deepEqual([...new Set(classes)], ["traefik"]);
});

test("metrics are read from the stated namespace alone", () => {
  const policies = (env: Record<string, string>) =>
    render(env).filter(({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name === "allow-metrics");
  assert.deepEqual(policies({}), []);
  const found = policies({ METRICS_NAMESPACE: "monitoring", SERVICE_MONITORS: "true" });
  assert.ok(found.length >= 4);
  assert.deepEqual(specOf(found[0]).ingress, [
    {
      from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      ports: [{ port: 9090, protocol: "TCP" }],
    },
  ]);
});

test("the pod that proves a host to a certificate authority is reached, with TLS only", () => {
  const count = (useTls: string) =>
    render({ USE_TLS: useTls }).filter(({ metadata }) => metadata.name === "allow-acme-solver").length;
  assert.equal(count("false"), 0);
  assert.ok(count("true") >= 4);
});

test("hosts lead through a Gateway where one is named, and its proxies may reach what they lead to", () => {
  const objects = render({ GATEWAY: "infra/public" });
  assert.deepEqual(
    objects.filter(({ kind }) => kind === "Ingress"),
    [],
  );
  const routes = objects.filter(({ kind }) => kind === "HTTPRoute");
  const hosts = render({}).filter(({ kind }) => kind === "Ingress");
  assert.deepEqual(
    routes.map(({ metadata }) => metadata.name),
    hosts.map(({ metadata }) => metadata.name),
  );
  const hub = specOf(routes.find(({ metadata }) => metadata.name === "application-hub"));
  assert.deepEqual(hub.hostnames, ["application-hub.eo.example.org", "*.application-hub.eo.example.org"]);
  for (const route of routes) {
    const { parentRefs, rules } = specOf(route);
    assert.deepEqual([parentRefs[0].namespace, parentRefs[0].name], ["infra", "public"]);
    const [{ name, port }] = rules[0].backendRefs;
    const service = objects.find(
      ({ kind, metadata }) =>
        kind === "Service" && metadata.name === name && metadata.namespace === route.metadata.namespace,
    );
    assert.ok(
      specOf(service).ports.some((each: { port: number }) => each.port === port),
      `${route.metadata.name} leads to port ${port}`,
    );
  }
  const policies = JSON.stringify(objects.filter(({ kind }) => kind === "NetworkPolicy"));
  assert.match(policies, /"gateway\.networking\.k8s\.io\/gateway-name":"public"/);
  assert.doesNotMatch(policies, /ingress-nginx/);
});

test("requests from outside come from the named namespace alone", () => {
  const policies = JSON.stringify(
    render({ INGRESS_NAMESPACE: "traefik" }).filter(({ kind }) => kind === "NetworkPolicy"),
  );
  assert.match(policies, /"kubernetes\.io\/metadata\.name":"traefik"/);
  assert.doesNotMatch(policies, /ingress-nginx/);
});

test("services without data of their own are scaled by the cluster where that is asked for", () => {
  const objects = render({ SERVICE_REPLICAS_MAX: "5", LOCALCLUSTER_ORCH_VERSION: "v1.34.0" });
  const scaled = objects.filter(({ kind }) => kind === "HorizontalPodAutoscaler");
  const names = scaled.map((object) => specOf(object).scaleTargetRef.name);
  assert.ok(names.includes("identity") && names.includes("gatekeeper"), names.join());
  for (const owner of ["postgres", "objstore", "ades", "application-hub"]) {
    assert.ok(!names.includes(owner), owner);
  }
  for (const autoscaler of scaled) {
    const { minReplicas, maxReplicas } = specOf(autoscaler);
    assert.deepEqual([autoscaler.apiVersion, minReplicas, maxReplicas], ["autoscaling/v2", 1, 5]);
  }
  const isScaled = ({ metadata }: { metadata: { name: string } }) => names.includes(metadata.name);
  for (const deployment of objects.filter(({ kind }) => kind === "Deployment").filter(isScaled)) {
    assert.equal(specOf(deployment).replicas, undefined, "the autoscaler's");
  }
  const budgets = objects.filter(({ kind }) => kind === "PodDisruptionBudget");
  assert.deepEqual(new Set(budgets.map(({ metadata }) => metadata.name)), new Set(names));
  for (const budget of budgets) {
    assert.deepEqual([specOf(budget).maxUnavailable, specOf(budget).unhealthyPodEvictionPolicy], [1, "AlwaysAllow"]);
  }
  const older = render({ SERVICE_REPLICAS_MAX: "5", LOCALCLUSTER_ORCH_VERSION: "v1.20.2" });
  assert.equal(older.find(({ kind }) => kind === "HorizontalPodAutoscaler")?.apiVersion, "autoscaling/v2beta2");
  assert.doesNotMatch(JSON.stringify(older), /unhealthyPodEvictionPolicy/);
});

test("PostgreSQL has an image of its own where one is named", () => {
  const imageOf = (env: Readonly<Record<string, string>>) =>
    pods(render(env)).find(({ containers }) => containers[0].name === "postgres").containers[0].image;
  assert.equal(imageOf({ SWATH_IMAGE: "swath:2" }), "swath:2");
  assert.equal(imageOf({ SWATH_IMAGE: "swath:2", POSTGRES_IMAGE: "swath:1" }), "swath:1");
});
