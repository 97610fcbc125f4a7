import assert from "node:assert/strict";
import { test } from "node:test";

import { parseProfiles } from "../../profiles/parse.ts";
import type { Launch } from "../spawner.ts";
import { HUB_PORTS } from "./hub-ports.ts";
import { createServerObjects } from "./pod-objects.ts";
import type { PodPlace } from "./pod-spec.ts";
import { readLife, readStart } from "./pod-state.ts";
import type { Pod } from "./pod-types.ts";

/** Every field that says something of the pod. */
const FILE = `profiles:
  - id: lab
    groups: ["*"]
    definition:
      display_name: Lab
      slug: lab
      kubespawner_override:
        cpu_limit: 2
        cpu_guarantee: 250m
        mem_limit: 2G
        mem_guarantee: 512M
        image: registry.example.org/lab:1
        extra_resource_limits: { nvidia.com/gpu: 1 }
        cmd: [start, "--port={port}", "$HOME"]
        port: 9999
        tolerations: [{ key: gpu, operator: Exists }]
    config_maps:
      - { name: rc, key: bashrc, mount_path: /etc/bashrc, default_mode: '0440', content: "x", persist: false }
    volumes:
      - { name: data, claim_name: data-claim, size: 50Gi, storage_class: fast, access_modes: [ReadWriteMany], volume_mount: { name: data, mount_path: /data }, persist: true }
      - { name: scratch, claim_name: scratch-claim, size: 1Gi, persist: false }
    pod_env_vars:
      REFERRED: { from_config_map: { name: present, key: k } }
    node_selector: { kubernetes.io/arch: amd64 }
    role_bindings:
      - { name: rb, subjects: [{ name: default, kind: ServiceAccount }], role: { name: r, resources: [pods], verbs: [get] }, persist: false }
    image_pull_secrets: [{ name: pull, data: e30=, persist: false }]
    init_containers:
      - { name: fill, image: busybox:1, command: [sh, -c, "true"], volume_mounts: [{ name: data, mount_path: /data }] }
    manifests:
      - { name: m, key: m, content: [{ apiVersion: v1, kind: ConfigMap, metadata: { name: extra, namespace: kube-system } }], persist: true }
    env_from_config_maps: [cm-env]
    env_from_secrets: [s-env]
    secret_mounts: [{ name: sm, mount_path: /run/sm }]
    egress: internet
`.replace("{ name: present, key: k }", "{ name: rc, key: bashrc }");

// oxlint-disable-next-line typescript/no-explicit-any -- objects are looked into freely
type Any = any;

const [profile] = parseProfiles(FILE);
assert.ok(profile);
const launch = (more: Partial<Launch> = {}): Launch => ({
  id: "7c0e4c1e-0000-4000-8000-000000000000",
  user: "eric",
  name: "lab",
  profile,
  options: {},
  size: { cores: 2, memoryBytes: 2 ** 31 },
  base: "/user/eric/lab/",
  origin: "https://eric--lab.hub.example.org",
  env: { JUPYTERHUB_API_TOKEN: "s3cr3t" },
  ...more,
});
const place: PodPlace = {
  pod: "jupyter-eric-lab",
  namespace: "ws-eric",
  deployment: "swath",
  image: "swath:1",
  storageClass: "standard",
  homeSize: "5Gi",
  hasStorage: true,
  pullSecrets: ["container-registry"],
  environment: { JUPYTERHUB_API_TOKEN: "s3cr3t", SWATH_EGRESS: "internet" },
  port: 9999,
  files: ["swath.py", "1-find-and-look.ipynb"],
  hub: { namespace: "proc", workload: "application-hub", proxyWorkload: "application-hub-proxy", ...HUB_PORTS },
};

test("every field of a profile is in the pod or beside it", () => {
  const { anchor, volumes, others, pod } = createServerObjects(launch(), place, { "swath.py": "" });
  const spec = pod["spec"] as Any;
  const [beside, server] = spec.containers;
  assert.deepEqual(server.resources, {
    requests: { cpu: "250m", memory: "512Mi" },
    limits: { cpu: "2000m", memory: "2147483648", "nvidia.com/gpu": "1" },
  });
  assert.deepEqual(server.command, ["start", "--port=9999", "$$HOME"]);
  assert.deepEqual(spec.nodeSelector, { "kubernetes.io/arch": "amd64" });
  assert.deepEqual(spec.tolerations, [{ key: "gpu", operator: "Exists" }]);
  assert.deepEqual(spec.imagePullSecrets, [{ name: "pull" }, { name: "container-registry" }]);
  assert.equal(spec.automountServiceAccountToken, true);
  assert.deepEqual(spec.securityContext.seccompProfile, { type: "RuntimeDefault" });
  assert.equal(spec.initContainers[0].name, "fill");
  assert.deepEqual(server.envFrom, [
    { configMapRef: { name: "cm-env" } },
    { secretRef: { name: "s-env" } },
    { secretRef: { name: "jupyter-eric-lab" } },
  ]);
  assert.deepEqual(
    server.volumeMounts.map(({ mountPath }: Any) => mountPath),
    ["/home/jovyan", "/opt/swath", "/data", "/etc/bashrc", "/run/sm"],
  );
  assert.deepEqual(
    spec.volumes.find(({ name }: Any) => name === "swath-files").configMap.items.map(({ path }: Any) => path),
    ["swath.py", "examples/1-find-and-look.ipynb"],
  );
  assert.equal(spec.volumes.find(({ name }: Any) => name === "map-rc").configMap.defaultMode, 0o440);
  assert.deepEqual(
    volumes.map(({ object, lasts }) => [object.metadata.name, (object["spec"] as Any).storageClassName, lasts]),
    [
      ["jupyter-home", "standard", true],
      ["data-claim", "fast", true],
      ["scratch-claim", "standard", false],
    ],
  );
  assert.deepEqual(
    others.map(({ object: { kind, metadata }, lasts }) => `${kind} ${metadata.namespace}/${metadata.name} ${lasts}`),
    [
      "ConfigMap ws-eric/jupyter-eric-lab-files false",
      "NetworkPolicy ws-eric/jupyter-eric-lab false",
      "ConfigMap ws-eric/rc false",
      "Secret ws-eric/pull false",
      "Role ws-eric/r false",
      "RoleBinding ws-eric/rb false",
      // Never where the file says.
      "ConfigMap ws-eric/extra true",
    ],
  );
  assert.equal((anchor["stringData"] as Any).JUPYTERHUB_API_TOKEN, "s3cr3t");
  assert.ok(!JSON.stringify(pod).includes("s3cr3t"), "no token is in the pod's description");
  for (const container of [server, beside, ...spec.initContainers]) {
    assert.deepEqual(container.securityContext.capabilities, { drop: ["ALL"] });
    assert.equal(container.securityContext.allowPrivilegeEscalation, false);
  }
  assert.equal(spec.securityContext.runAsNonRoot, true);
  assert.match(beside.command.join(" "), /out:3128=application-hub-proxy\.proc\.svc:3129/);
});

test("a server reaches the hub and what its profile allows, and nothing else", () => {
  const rulesOf = (egress: "none" | "platform" | "internet") => {
    const own = { ...launch(), profile: { ...profile, egress, role_bindings: [] } };
    const { others } = createServerObjects(own, place, {});
    const policy = others.find(({ object }) => object.kind === "NetworkPolicy");
    assert.ok(policy);
    const { egress: rules } = policy.object["spec"] as Any;
    return rules.map(({ ports }: Any) => ports.map(({ port }: Any) => port));
  };
  const always = [
    [53, 53],
    [8080, 9000],
  ];
  assert.deepEqual(rulesOf("none"), always);
  assert.deepEqual(rulesOf("platform"), [...always, [3128]]);
  assert.deepEqual(rulesOf("internet"), [...always, [3129]]);
});

const pod = (status: Pod["status"]): Pod => ({ metadata: { name: "p", uid: "u" }, ...(status && { status }) });
const server = (state: object) =>
  pod({ phase: "Running", podIP: "10.0.0.7", containerStatuses: [{ name: "server", state }] });

test("a pod says what it waits for and how it ended", () => {
  assert.deepEqual(readStart(server({ running: {} })), { kind: "running", address: "10.0.0.7" });
  const pulling = readStart(server({ waiting: { reason: "ImagePullBackOff", message: "no such image" } }));
  assert.deepEqual(pulling, { kind: "waiting", message: "ImagePullBackOff: no such image", isTrouble: true });
  const full = readStart(
    pod({ phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", message: "Insufficient cpu" }] }),
  );
  assert.match(full.kind === "waiting" ? full.message : "", /waiting for room.*Insufficient cpu/);
  const reasonOf = (of: Pod | undefined) => {
    const life = readLife(of);
    return life.alive ? "" : life.reason;
  };
  assert.equal(reasonOf(server({ running: {} })), "");
  assert.match(reasonOf(server({ terminated: { exitCode: 137, reason: "OOMKilled" } })), /more memory/);
  assert.match(reasonOf(server({ terminated: { exitCode: 3, message: "no such model" } })), /status 3\. no such model/);
  assert.match(reasonOf(undefined), /pod is gone/);
  assert.match(
    reasonOf(pod({ phase: "Failed", reason: "Evicted", message: "The node was low on memory" })),
    /low on memory/,
  );
});
