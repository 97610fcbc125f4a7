import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { toYaml, type KubernetesObject } from "@swath/kubernetes";
import { resolveConfig } from "../../../config/resolve.ts";
import { components } from "../../../platform/components.ts";
import { createPlan } from "../../../platform/plan.ts";
import { renderPlan } from "./render-plan.ts";
import { sampleComponent } from "./test/sample-component.ts";

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };

function render(
  env: Record<string, string> = {},
  args = { arg3: "eo.example.org", arg4: "203.0.113.7" },
  sample = sampleComponent,
) {
  const { config } = resolveConfig({
    env: { REQUIRE_DUMMY_SERVICE: "true", OPEN_INGRESS: "true", ...env },
    args,
    facts,
  });
  return renderPlan(
    createPlan(config, [...components.filter(({ name }) => name === "postgres" || name === "dummy-service"), sample]),
  );
}

interface Loose {
  readonly [key: string]: Loose & readonly Loose[];
}

/** An object as tests read it: any field of any depth. */
function find(objects: readonly KubernetesObject[], kind: string, name: string): Loose {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  assert.ok(
    found,
    `${kind} ${name}; there are ${objects.map((object) => `${object.kind}/${object.metadata.name}`).join(", ")}`,
  );
  return JSON.parse(JSON.stringify(found)) as Loose;
}

test("the same input gives the same bytes", () => {
  assert.equal(toYaml(render()), toYaml(render()));
});

test("every object is named once", () => {
  const names = render().map(({ kind, metadata }) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`);
  assert.equal(new Set(names).size, names.length);
});

test("every pod is held to the restricted security standard", () => {
  const pods = render().filter(({ kind }) => ["Deployment", "StatefulSet", "Job"].includes(kind));
  assert.equal(pods.length, 5);
  for (const { metadata } of pods) {
    const object = find(pods, pods.find((one) => one.metadata === metadata)?.kind ?? "", metadata.name);
    const pod = object["spec"]?.["template"]?.["spec"];
    assert.equal(pod?.["securityContext"]?.["runAsNonRoot"], true);
    assert.deepEqual(pod?.["securityContext"]?.["seccompProfile"], { type: "RuntimeDefault" });
    assert.equal(pod?.["enableServiceLinks"], false);
    for (const container of pod?.["containers"] ?? []) {
      assert.deepEqual(container["securityContext"], {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: true,
      });
      assert.ok(container["resources"]?.["limits"]?.["memory"]);
    }
  }
});

test("a program that owns a volume is a StatefulSet on its claim, others roll over as Deployments", () => {
  const objects = render();
  const postgres = find(objects, "StatefulSet", "postgres");
  assert.equal(
    postgres["spec"]?.["template"]?.["spec"]?.["volumes"]?.[1]?.["persistentVolumeClaim"]?.["claimName"],
    "postgres",
  );
  assert.equal(find(objects, "PersistentVolumeClaim", "postgres")["spec"]?.["storageClassName"], "standard");
  assert.equal(find(objects, "Deployment", "dummy-service")["spec"]?.["strategy"]?.["type"], "RollingUpdate");
});

test("a changed task is a new Job", () => {
  const jobName = (env: Record<string, string>) =>
    render(env).find(({ kind, metadata }) => kind === "Job" && metadata.name.startsWith("sample"))?.metadata.name;
  assert.match(jobName({}) ?? "", /^sample-setup-[0-9a-f]{8}$/);
  assert.notEqual(jobName({}), jobName({ SWATH_IMAGE: "registry.example.org/swath:2" }));
});

test("no given secret is outside a Secret, and no generated one is anywhere", () => {
  const objects = render({ OBJSTORE_ROOT_PASSWORD: "hidden-word", IDENTITY_POSTGRES_PASSWORD: "p@ss/word" });
  const text = toYaml(objects.filter(({ kind }) => kind !== "Secret"));
  assert.ok(!text.includes("hidden-word") && !text.includes("p@ss"));
  const { data, metadata } = find(objects, "Secret", "sample-settings");
  const decode = (value: unknown) => Buffer.from(value as string, "base64").toString();
  assert.equal(decode(data?.["ROOT_PASSWORD"]), "hidden-word");
  // Its own login, whose password apply makes, and not that of the database's owner.
  assert.match(JSON.stringify(metadata?.["annotations"]), /swath_sample:[^]*@postgres\.storage\.svc:5432\/swath/);
  assert.equal(data?.["DATABASE_URL"], undefined);
  const owner = find(objects, "Secret", "database-roles-settings");
  assert.equal(
    decode(owner["data"]?.["DATABASE_URL"]),
    "postgresql://swath:p%40ss%2Fword@postgres.storage.svc:5432/swath",
  );
  assert.match(JSON.stringify(owner["metadata"]?.["annotations"]), /DATABASE_PASSWORD\.sample/);
});

test("generated values are described for apply to make once, given parts stay in the data", () => {
  const objects = render({ OBJSTORE_ROOT_PASSWORD: "hidden-word" });
  const secret = find(objects, "Secret", "sample-keys");
  assert.deepEqual(JSON.parse(secret["metadata"]?.["annotations"]?.["swath.io/generate"] as unknown as string), {
    connection: [
      { text: "s3://" },
      { data: "connection.1" },
      { text: ":" },
      { name: "IDENTITY_SERVICE_DEFAULT_SECRET", bytes: 18 },
      { text: "@" },
      { text: "http://sample.um.svc:8080" },
    ],
  });
  assert.deepEqual(Object.keys(secret["data"] ?? {}), ["connection.1"]);
});

test("hosts are Ingresses of class nginx with the issuer's certificate", () => {
  const ingress = find(render(), "Ingress", "dummy-service");
  assert.equal(ingress["spec"]?.["ingressClassName"], "nginx");
  assert.equal(ingress["metadata"]?.["annotations"]?.["cert-manager.io/cluster-issuer"], "letsencrypt-staging");
  assert.equal(ingress["metadata"]?.["annotations"]?.["nginx.ingress.kubernetes.io/ssl-redirect"], "true");
  assert.deepEqual(ingress["spec"]?.["tls"], [
    { secretName: "dummy-service-tls", hosts: ["dummy-service.eo.example.org"] },
  ]);
  const sample = find(render(), "Ingress", "sample");
  assert.deepEqual(
    (sample["spec"]?.["rules"] ?? []).map((rule) => rule["host"]),
    ["sample.eo.example.org", "*.sample.eo.example.org"],
  );
  assert.deepEqual(
    sample["spec"]?.["tls"]?.[0]?.["hosts"],
    ["sample.eo.example.org"],
    "no wildcard where it cannot be proven",
  );
});

test("hosts of workspaces are an alias of the service's own", () => {
  const routes = [{ service: "cat", workload: "sample", perWorkspace: true }];
  const ingress = find(render({}, undefined, { ...sampleComponent, declare: () => ({ routes }) }), "Ingress", "cat");
  const alias = ingress["metadata"]?.["annotations"]?.["nginx.ingress.kubernetes.io/server-alias"] as unknown as string;
  const pattern = new RegExp(alias.replace(/^~/, ""));
  assert.ok(pattern.test("cat.ws-eric.eo.example.org"), alias);
  for (const other of [
    "cat.a.b.eo.example.org",
    "dog.ws-eric.eo.example.org",
    "cat.ws-eric.eoxexample.org",
    "cat.eo.example.org",
  ]) {
    assert.ok(!pattern.test(other), other);
  }
});

test("without TLS nothing redirects and nothing asks for a certificate", () => {
  const ingress = find(render({ USE_TLS: "false" }), "Ingress", "dummy-service");
  assert.equal(ingress["metadata"]?.["annotations"]?.["nginx.ingress.kubernetes.io/ssl-redirect"], "false");
  assert.equal(ingress["metadata"]?.["annotations"]?.["cert-manager.io/cluster-issuer"], undefined);
  assert.equal(ingress["spec"]?.["tls"], undefined);
});

test("only callers and the ingress controller reach a service", () => {
  const objects = render();
  const postgres = find(objects, "NetworkPolicy", "allow-postgres");
  assert.deepEqual(
    (postgres["spec"]?.["ingress"]?.[0]?.["from"] ?? []).map((peer) => peer["podSelector"]?.["matchLabels"]),
    [{ "app.kubernetes.io/name": "database-roles" }, { "app.kubernetes.io/name": "sample" }],
  );
  assert.deepEqual(
    objects.filter(({ metadata }) => metadata.name === "default-deny").map(({ metadata }) => metadata.namespace),
    ["storage", "um"],
  );
});

test("a disruption budget has the API version of the cluster, and only several replicas have one", () => {
  const budgets = (version: string) =>
    render({ LOCALCLUSTER_ORCH_VERSION: version }).filter(({ kind }) => kind === "PodDisruptionBudget");
  assert.deepEqual(
    budgets("v1.22.5").map(({ apiVersion, metadata }) => [apiVersion, metadata.name]),
    [["policy/v1", "sample"]],
  );
  assert.equal(budgets("v1.20.2")[0]?.apiVersion, "policy/v1beta1");
});

test("only a program that asks for rights gets an account with them", () => {
  const objects = render();
  assert.equal(find(objects, "ServiceAccount", "sample")["automountServiceAccountToken"], false);
  assert.deepEqual(find(objects, "Role", "sample")["rules"]?.[0]?.["verbs"], ["get"]);
  assert.equal(objects.filter(({ kind }) => kind === "ServiceAccount").length, 1);
});

test("references in values stay text", () => {
  const container = find(render(), "Deployment", "sample")["spec"]?.["template"]?.["spec"]?.["containers"]?.[0];
  const env: readonly unknown[] = container?.["env"] ?? [];
  const has = (name: string, value: string) => env.some((one) => isDeepStrictEqual(one, { name, value }));
  assert.ok(has("PATTERN", "$$(HOME)"));
  assert.ok(has("LISTEN", ":8080"));
  assert.ok(has("CACHE_DIR", "/var/cache/sample"));
  assert.ok(has("DUMMY_SERVICE_URL", "http://dummy-service.um.svc:8080"));
});
