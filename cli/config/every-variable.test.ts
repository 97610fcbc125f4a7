import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { PlatformSecret, Variables } from "@swath/manifest";

import { components } from "../platform/components.ts";
import { createPlan } from "../platform/plan.ts";
import { createLaunchSpec } from "../targets/embedded/launch/launch-spec.ts";
import { clusterPaths } from "../targets/embedded/state/paths.ts";
import { listCharts } from "../targets/kubernetes/charts/charts.ts";
import { renderExtras } from "../targets/kubernetes/charts/extras.ts";
import { renderPlan } from "../targets/kubernetes/render/render-plan.ts";
import { minorVersion } from "../targets/kubernetes/render/versions.ts";
import { formatMistake, formatWarning } from "./report.ts";
import { type Resolution, resolveConfig } from "./resolve.ts";
import { definitionOf, variableNames } from "./variables/table.ts";

type Env = Readonly<Record<string, string>>;
interface Sample {
  readonly value: string;
  /** What it needs beside it to mean something. */
  readonly beside?: Env;
}

const ACME = { ACME_DIRECTORY_URL: "https://acme.example.org/directory" };
const ACME_DNS = { ...ACME, ACME_CHALLENGE: "dns-01", ACME_DNS_SERVER: "192.0.2.53" };
const CLOUD = { CLOUD_DOMAINNAME: "cloud_1", CLOUD_USERNAME: "me", CLOUD_PASSWORD: "pass", CLOUD_MEMBERROLEID: "r" };
const S3 = {
  OBJSTORE_ENDPOINT: "https://s3.example.org",
  OBJSTORE_ROOT_USER: "someone",
  OBJSTORE_ROOT_PASSWORD: "something",
};
const ISSUER = { IDENTITY_ISSUER_URL: "https://login.example.org/realms/one" };
const OFFERING = { CLOUDDATA_DATA_SPECIFICATION: "true" };

/** A value other than the default; booleans are turned around and numbers raised without a line here. */
const SAMPLES: Partial<Record<keyof Variables, Sample>> = {
  LOCALCLUSTER_VERSION: { value: "v1.30.0" },
  LOCALCLUSTER_ORCH_VERSION: { value: "v1.21.5" },
  LOCALCLUSTER_CPU_AMOUNT: { value: "2" },
  LOCALCLUSTER_MEMORY_AMOUNT: { value: "11g" },
  LOCALCLUSTER_DISK_AMOUNT: { value: "11g" },
  LOCALCLUSTER_EXTRA_OPTIONS: { value: "--ports=8080:80,8443:443" },
  REGISTRATION_ALLOW_PRIVATE: { value: "10.0.0.1" },
  SWATH_IMAGE: { value: "registry.example.org/swath:9" },
  POSTGRES_IMAGE: { value: "registry.example.org/postgres:9" },
  PROCESSING_ZOO_IMAGE: { value: "registry.example.org/ades:9" },
  SERVICE_REPLICAS_MAX: { value: "5" },
  TRUSTED_PROXIES: { value: "10.0.0.0/8" },
  TLS_CLUSTER_ISSUER: { value: "letsencrypt-production" },
  ACME_DIRECTORY_URL: { value: "https://acme.example.org/other" },
  ACME_EMAIL: { value: "me@example.org", beside: ACME },
  ACME_CA_FILE: { value: import.meta.filename, beside: ACME },
  ACME_EAB_KID: { value: "key", beside: { ...ACME, ACME_EAB_HMAC_KEY: "c2VjcmV0" } },
  ACME_EAB_HMAC_KEY: { value: "c2VjcmV0", beside: { ...ACME, ACME_EAB_KID: "key" } },
  ACME_CHALLENGE: { value: "http-01", beside: { ...ACME, ACME_DNS_SERVER: "192.0.2.53" } },
  ACME_DNS_SERVER: { value: "192.0.2.54", beside: ACME },
  ACME_DNS_ZONE: { value: "example.org", beside: ACME_DNS },
  ACME_DNS_KEY_NAME: { value: "key.example.org", beside: { ...ACME_DNS, ACME_DNS_KEY_SECRET: "c2VjcmV0" } },
  ACME_DNS_KEY_ALGORITHM: { value: "hmac-sha512", beside: ACME_DNS },
  ACME_DNS_KEY_SECRET: { value: "c2VjcmV0", beside: { ...ACME_DNS, ACME_DNS_KEY_NAME: "key.example.org" } },
  ACME_DNS_PROPAGATION: { value: "31", beside: ACME_DNS },
  ACME_DNS_HOOK: { value: import.meta.filename, beside: ACME },
  IDENTITY_SERVICE_ADMIN_USER: { value: "boss" },
  IDENTITY_SERVICE_ADMIN_CLIENT: { value: "other-cli" },
  IDENTITY_REALM: { value: "other" },
  IDENTITY_ACCEPTED_AUDIENCES: { value: "other" },
  IDENTITY_ISSUER_URL: { value: "https://login.example.org/realms/one" },
  IDENTITY_ADMIN_ROLE: { value: "boss", beside: ISSUER },
  IDENTITY_ROLES_CLAIM: { value: "groups", beside: ISSUER },
  IDENTITY_CLIENT_ALLOW_PRIVATE: { value: "10.0.0.1" },
  LOGIN_PROVIDER: { value: "other" },
  SMTP_URL: { value: "smtp://mail.example.org" },
  SMTP_FROM: { value: "me@example.org", beside: { SMTP_URL: "smtp://mail.example.org" } },
  OBJSTORE_ROOT_USER: { value: "someone" },
  OBJSTORE_ENDPOINT: { value: "https://s3.example.org", beside: S3 },
  OBJSTORE_IAM_ENDPOINT: { value: "https://iam.example.org", beside: S3 },
  OBJSTORE_REGION: { value: "eu-1" },
  OBJSTORE_SNAPSHOTS: { value: "hourly=24,daily=7" },
  OBJSTORE_EVENT_TARGETS: { value: "hook=https://hook.example.org/" },
  REGISTRY_URL: { value: "https://registry.example.org" },
  REGISTRY_STORAGE: { value: "fast", beside: { REGISTRY_CONTENT: "volume" } },
  REGISTRY_BUCKET: { value: "images" },
  DATABASE_URL: { value: "postgresql://me:pass@db.example.org/swath" },
  DATABASE_ROLES: { value: "shared", beside: { DATABASE_URL: "postgresql://me:pass@db.example.org/swath" } },
  OBJSTORE_STORAGE_ACCESS: { value: "ReadWriteMany" },
  POSTGRES_STORAGE_ACCESS: { value: "ReadWriteMany" },
  PROCESSING_PULL_SECRETS: { value: "pull" },
  PROCESSING_NODE_SELECTOR: { value: "disk=ssd" },
  PROCESSING_TOLERATIONS: { value: "dedicated=eo:NoSchedule" },
  PROCESSING_PRIORITY_CLASS: { value: "low" },
  PROCESSING_QUEUE: { value: "jobs" },
  PROCESSING_NODE_CACHE: { value: "9Gi", beside: { PROCESSING_STEP_FILES: "object-store" } },
  PROCESSING_STEP_ACCESS_KEY: {
    value: "KEY",
    beside: { ...S3, PROCESSING_STEP_FILES: "object-store", PROCESSING_STEP_SECRET_KEY: "secret-key" },
  },
  PROCESSING_STEP_SECRET_KEY: {
    value: "secret-key",
    beside: { ...S3, PROCESSING_STEP_FILES: "object-store", PROCESSING_STEP_ACCESS_KEY: "KEY" },
  },
  CONTAINER_ENGINE: { value: "podman" },
  CONTAINER_AUTH_FILE: { value: import.meta.filename },
  PROCESSING_TOOL_NETWORK: { value: "all" },
  PROCESSING_ALLOW_PRIVATE: { value: "10.0.0.1" },
  USER_CONTENT_DOMAIN: { value: "content.example.net" },
  WILDCARD_DNS_SUFFIX: { value: "sslip.io" },
  PORTAL_VALUES: { value: "/values.yaml" },
  BASE_MAPS: { value: "Map=https://tiles.example.org/{z}/{x}/{y}.png" },
  CLOUDDATA_CATALOGUE_URL: { value: "https://catalogue.example.org/resto", beside: OFFERING },
  CLOUDDATA_CATALOGUE_TYPE: { value: "STACAPI", beside: OFFERING },
  CLOUDDATA_AREA: { value: "1,2,3,4", beside: OFFERING },
  CLOUDDATA_TIME: { value: "2023-08-30T00:00:00Z/..", beside: OFFERING },
  CLOUDDATA_SCHEDULE: { value: "13h", beside: OFFERING },
  CLOUDDATA_S3_ENDPOINT: { value: "https://data.example.org", beside: OFFERING },
  CLOUDDATA_S3_REGION: { value: "other", beside: OFFERING },
  CLOUDDATA_S3_ACCESS_KEY: { value: "other", beside: OFFERING },
  CLOUDDATA_S3_SECRET_KEY: { value: "other", beside: OFFERING },
  INGRESS_CLASS: { value: "traefik" },
  GATEWAY: { value: "infra/public" },
  INGRESS_NAMESPACE: { value: "edge" },
  IMAGE_PULL_SECRETS: { value: "pull" },
  POD_NODE_SELECTOR: { value: "disk=ssd" },
  POD_TOLERATIONS: { value: "dedicated=eo:NoSchedule" },
  POD_PRIORITY_CLASS: { value: "high" },
  BUCKET_SECRET_NAMESPACES: { value: "team-a" },
  METRICS_NAMESPACE: { value: "monitoring" },
  SERVICE_MONITORS: { value: "true", beside: { METRICS_NAMESPACE: "monitoring" } },
  CLOUD_IDENTITY_URL: { value: "https://keystone.example.org/v3", beside: CLOUD },
  CLOUD_S3_URL: { value: "https://s3.example.org", beside: CLOUD },
  CLOUD_DOMAINNAME: { value: "cloud_2", beside: CLOUD },
  CLOUD_USERNAME: { value: "you", beside: CLOUD },
  CLOUD_PASSWORD: { value: "other", beside: CLOUD },
  CLOUD_MEMBERROLEID: { value: "s", beside: CLOUD },
  CLOUD_SERVICEPROJECTID: { value: "p", beside: CLOUD },
  USER_EMAIL_PATTERN: { value: "eo+<name>@example.org", beside: CLOUD },
};

/** What the targets read beside plan and template, and where. Each file must name the variable. */
const READ_ELSEWHERE: Readonly<Record<"embedded" | "kubernetes", Readonly<Record<string, readonly string[]>>>> = {
  embedded: {
    "supervisor/ingress-config-writer.ts": ["TRUSTED_PROXIES", "USE_HTTP2", "TLS_CLUSTER_ISSUER"],
    "tls/acme/settings.ts": [
      "ACME_DIRECTORY_URL",
      "ACME_EMAIL",
      "ACME_CA_FILE",
      "ACME_EAB_KID",
      "ACME_EAB_HMAC_KEY",
      "ACME_CHALLENGE",
      "ACME_DNS_SERVER",
      "ACME_DNS_ZONE",
      "ACME_DNS_KEY_NAME",
      "ACME_DNS_KEY_ALGORITHM",
      "ACME_DNS_KEY_SECRET",
      "ACME_DNS_PROPAGATION",
      "ACME_DNS_HOOK",
    ],
    "../machine-facts.ts": ["PORTAL_VALUES"],
  },
  kubernetes: {
    "minikube/start-minikube.ts": [
      "LOCALCLUSTER_VERSION",
      "LOCALCLUSTER_CPU_AMOUNT",
      "LOCALCLUSTER_MEMORY_AMOUNT",
      "LOCALCLUSTER_DISK_AMOUNT",
      "USE_LOADBALANCER_ADDON",
      "USE_INGRESS_CONTROLLER_HELM",
      "REQUIRE_INGRESS_CONTROLLER",
    ],
    "ingress-service.ts": ["USE_INGRESS_CONTROLLER_LOADBALANCER"],
    "forward/open-forward.ts": ["TEMP_FORWARDING_PORT"],
    "../machine-facts.ts": ["PORTAL_VALUES"],
  },
};

const TARGETS = {
  embedded: { base: {}, read: observeEmbedded },
  // The local cluster of the cluster tool, and one that somebody else brings.
  kubernetes: { base: { LOCALCLUSTER_TOOL: "minikube" }, read: observeKubernetes },
} as const;

for (const target of ["embedded", "kubernetes"] as const) {
  for (const variant of ["A", "B"] as const) {
    test(`every variable changes what is deployed or is named in a warning: ${target}, variant ${variant}`, () => {
      const { base, read } = TARGETS[target];
      const silent = variableNames.filter((name) => {
        if (name === "PLATFORM_VARIANT" || name === "LOCALCLUSTER_TOOL" || name === "REQUIRE_LOCALCLUSTER") {
          return false;
        }
        const { value, beside = {} } = SAMPLES[name] ?? {};
        const without = { ...base, ...beside, PLATFORM_VARIANT: variant };
        const { [name]: _left, ...others } = without as Record<string, string>;
        const first = resolve(target, others);
        const other = resolve(target, { ...without, [name]: value ?? otherValue(name, first) });
        return !isTold(name, other) && !isReadElsewhere(target, name) && isSame(read, first, other);
      });
      assert.deepEqual(silent, []);
    });
  }
}

test("what the targets read beside the plan is read where it is said", () => {
  for (const [target, files] of Object.entries(READ_ELSEWHERE)) {
    for (const [file, names] of Object.entries(files)) {
      const text = readFileSync(join(import.meta.dirname, "../targets", target, file), "utf8");
      for (const name of names) {
        assert.match(text, new RegExp(`\\b${name}\\b`), `${file} reads ${name}`);
      }
    }
  }
});

function resolve(target: keyof typeof TARGETS, env: Env): Resolution {
  const facts = { clusterIp: target === "embedded" ? "127.0.0.1" : "192.0.2.1", wildcardDnsResolves: true };
  return resolveConfig({ env, args: {}, facts });
}

/** Another value of a type that has few, or whose values are free. */
function otherValue(name: keyof Variables, { config }: Resolution): string {
  const { type } = definitionOf(name);
  const value = config.variables[name];
  switch (type.name) {
    case "boolean":
      return String(value !== true);
    case "integer":
      return String(Number(value ?? 1) + 1);
    case "choice":
      return type.allowed.split(", ").find((word) => word !== value) ?? "";
    case "secret":
      return "another-secret-of-the-test";
    case "size":
      return "9Gi";
    default:
      return "another";
  }
}

function isTold(name: string, { warnings, mistakes }: Resolution): boolean {
  const text = [...warnings.map(formatWarning), ...mistakes.map(formatMistake)].join("\n");
  return new RegExp(`\\b${name}\\b`).test(text);
}

function isReadElsewhere(target: keyof typeof TARGETS, name: string): boolean {
  return Object.values(READ_ELSEWHERE[target]).some((names) => names.includes(name));
}

/** What the processes of the embedded cluster are started with, and the hosts of its ingress. */
function* observeEmbedded({ config }: Resolution): Generator<string> {
  const plan = createPlan({ ...config, shown: [] }, components);
  const context = {
    plan,
    paths: clusterPaths("matrix", { SWATH_STATE_DIR: "/state" }),
    readSecret: (secret: PlatformSecret) => JSON.stringify(secret),
    readOther: () => undefined,
    accounts: undefined,
    codeVersion: () => "",
  };
  const { extraOptions, scheme, domain } = config;
  const starts = plan.workloads.map((workload) => createLaunchSpec(workload, context));
  yield JSON.stringify([starts, plan.routes, extraOptions, scheme, domain]);
}

/** The objects of the cluster's API, and the charts that are installed beside them. */
function* observeKubernetes({ config }: Resolution): Generator<string> {
  const plan = createPlan({ ...config, shown: [] }, components);
  yield JSON.stringify(renderPlan(plan));
  yield JSON.stringify(listCharts(plan.settings).map((chart) => [chart.name, chart.values(plan.settings)]));
  yield JSON.stringify([renderExtras(plan.settings), minorVersion(plan)]);
}

/** Most variables are compared with the same deployment. */
const observed = new Map<string, readonly string[]>();

function isSame(read: (one: Resolution) => Iterable<string>, one: Resolution, other: Resolution): boolean {
  const key = `${read.name} ${JSON.stringify(one.config.variables)}`;
  const firsts = observed.get(key) ?? [...read(one)];
  observed.set(key, firsts);
  const seconds = read(other)[Symbol.iterator]();
  for (const first of firsts) {
    if (first !== seconds.next().value) {
      return false;
    }
  }
  return true;
}
