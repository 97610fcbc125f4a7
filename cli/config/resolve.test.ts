import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeployArguments } from "./arguments.ts";
import type { MachineFacts } from "./facts.ts";
import { formatMistake, formatWarning } from "./report.ts";
import { resolveConfig } from "./resolve.ts";

const offline: MachineFacts = { clusterIp: "127.0.0.1", wildcardDnsResolves: false };
const online: MachineFacts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };

function resolve(env: Record<string, string> = {}, args: DeployArguments = {}, facts: MachineFacts = online) {
  const { config, warnings, mistakes } = resolveConfig({ env, args, facts });
  return {
    config,
    variables: config.variables,
    warnings: warnings.map(formatWarning),
    mistakes: mistakes.map(formatMistake),
  };
}

test("nothing set gives the documented defaults without a warning or mistake", () => {
  const { config, variables, warnings, mistakes } = resolve();
  assert.deepEqual([warnings, mistakes], [[], []]);
  assert.equal(config.action, "apply");
  assert.equal(config.clusterName, "swath");
  assert.equal(config.domain, "127-0-0-1.nip.io");
  assert.equal(config.publicIp, "127.0.0.1");
  assert.deepEqual([config.scheme, config.publicPort], ["https", 443]);
  assert.equal(variables.REQUIRE_DUMMY_SERVICE, false);
  assert.equal(variables.REQUIRE_PDE, false);
  assert.equal(variables.REQUIRE_ADES_PROTECTION, true);
  assert.equal(variables.TLS_CLUSTER_ISSUER, "local-ca");
  assert.deepEqual(variables.IDENTITY_SERVICE_ADMIN_PASSWORD, { kind: "given", value: "changeme" });
  assert.deepEqual(variables.IDENTITY_GATEKEEPER_ENCRYPTION_KEY, { kind: "given", value: "changemechangeme" });
});

test("where wildcard DNS does not resolve the domain is <cluster-name>.localhost, and it says so", () => {
  const { config, warnings } = resolve({}, { clusterName: "lab" }, offline);
  assert.equal(config.domain, "lab.localhost");
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /nip\.io do not resolve .* lab\.localhost/);
});

test("the domain a cluster had before is kept until another is asked for", () => {
  const facts = { ...online, keptDomain: "swath.localhost" };
  assert.equal(resolve({}, {}, facts).config.domain, "swath.localhost");
  assert.equal(resolve({}, { arg3: "eo.example.org" }, facts).config.domain, "eo.example.org");
  assert.equal(resolve({}, { arg3: "10.0.0.7" }, facts).config.domain, "10-0-0-7.nip.io");
});

test("variant B writes the address into the domain with its dots", () => {
  assert.equal(resolve({ PLATFORM_VARIANT: "B" }).config.domain, "127.0.0.1.nip.io");
});

test("switches of the other variant are off, and setting one warns", () => {
  const { variables, warnings, config } = resolve({ REQUIRE_PDE: "true", LOGIN_SERVICE_ADMIN_PASSWORD: "x" });
  assert.equal(variables.REQUIRE_PDE, false);
  assert.deepEqual(config.origins.REQUIRE_PDE, { kind: "other variant" });
  assert.equal(warnings.filter((warning) => warning.includes("belongs to variant B")).length, 2);
});

test("OPEN_INGRESS says that there is no protection, also where only this machine reaches the ingress", () => {
  const { warnings } = resolve({ OPEN_INGRESS: "true" });
  assert.ok(warnings.some((warning) => /OPEN_INGRESS.*no protection/.test(warning)));
  assert.ok(!resolve({}).warnings.some((warning) => /no protection/.test(warning)));
});

test("OPEN_INGRESS turns the protection switches off in variant A unless set, and leaves them in variant B", () => {
  const a = resolve({ OPEN_INGRESS: "true", REQUIRE_ADES_PROTECTION: "true" });
  assert.equal(a.variables.REQUIRE_WORKSPACE_API_PROTECTION, false);
  assert.equal(a.variables.REGISTRATION_API_PROTECTION, false);
  assert.equal(a.variables.REQUIRE_ADES_PROTECTION, true);
  assert.ok(a.warnings.some((warning) => warning.startsWith("REQUIRE_ADES_PROTECTION: ") && warning.includes("-open")));
  const b = resolve({ OPEN_INGRESS: "true", PLATFORM_VARIANT: "B" });
  assert.equal(b.variables.REQUIRE_WORKSPACE_API_PROTECTION, true);
});

test("without an identity service the ingress is open by default, and no portal is required", () => {
  const { variables } = resolve({ REQUIRE_IDENTITY_SERVICE: "false" });
  assert.equal(variables.OPEN_INGRESS, true);
  assert.equal(variables.REQUIRE_PORTAL, false);
  assert.equal(variables.REQUIRE_ADES_PROTECTION, false);
});

test("an existing issuer takes the place of the identity service", () => {
  const { variables, mistakes } = resolve({ IDENTITY_ISSUER_URL: "https://id.example.org/realms/eo/" });
  assert.equal(variables.IDENTITY_ISSUER_URL, "https://id.example.org/realms/eo");
  assert.equal(variables.REQUIRE_IDENTITY_SERVICE, false);
  assert.equal(variables.OPEN_INGRESS, false);
  assert.equal(variables.REQUIRE_PORTAL, true);
  assert.deepEqual(mistakes, []);
});

test("REQUIRE_OBJSTORE follows the components that keep data there", () => {
  const none = { REQUIRE_WORKSPACE_API: "false", REQUIRE_DATA_ACCESS: "false" };
  assert.equal(resolve().variables.REQUIRE_OBJSTORE, true);
  assert.equal(resolve(none).variables.REQUIRE_OBJSTORE, false);
  assert.equal(resolve({ ...none, STAGEOUT_TARGET: "objstore" }).variables.REQUIRE_OBJSTORE, true);
  assert.equal(resolve({ ...none, REQUIRE_DATA_ACCESS: "true" }).variables.REQUIRE_OBJSTORE, true);
  const external = {
    OBJSTORE_ENDPOINT: "https://s3.example.org",
    OBJSTORE_ROOT_USER: "key",
    OBJSTORE_ROOT_PASSWORD: "secretkey",
  };
  assert.equal(resolve(external).variables.REQUIRE_OBJSTORE, false);
  assert.deepEqual(resolve(external).mistakes, []);
});

test("base maps are checked entry by entry", () => {
  const map = "Relief=https://wmts.example.org/{TileMatrix}/{TileRow}/{TileCol}.jpg";
  assert.deepEqual(resolve({ BASE_MAPS: map }).mistakes, []);
  const [mistake = ""] = resolve({ BASE_MAPS: `${map}|Photos=https://e.org/tiles` }).mistakes;
  assert.match(mistake, /^BASE_MAPS.*"Photos=https:\/\/e\.org\/tiles" does not say where the tile goes/);
});

test("without TLS the issuer is notls, even when another is set", () => {
  const { variables, config, warnings } = resolve({ USE_TLS: "false", TLS_CLUSTER_ISSUER: "letsencrypt-production" });
  assert.equal(variables.TLS_CLUSTER_ISSUER, "notls");
  assert.equal(variables.REQUIRE_CERTIFICATE_MANAGER, false);
  assert.deepEqual([config.scheme, config.publicPort], ["http", 80]);
  assert.ok(warnings.some((warning) => warning.startsWith("TLS_CLUSTER_ISSUER: has no effect")));
});

test("a public domain gets the staging issuer by default", () => {
  const { variables } = resolve({}, { arg3: "eo.example.org", arg4: "203.0.113.7" });
  assert.equal(variables.TLS_CLUSTER_ISSUER, "letsencrypt-staging");
});

const PUBLIC: DeployArguments = { arg3: "eo.example.org", arg4: "203.0.113.7" };
const IDENTITY_SECRETS = [
  "IDENTITY_SERVICE_DEFAULT_SECRET",
  "IDENTITY_SERVICE_ADMIN_PASSWORD",
  "IDENTITY_POSTGRES_PASSWORD",
  "IDENTITY_GATEKEEPER_CLIENT_SECRET",
] as const;

test("secrets default to a generated one as soon as other machines reach the ingress", () => {
  const { variables } = resolve({}, PUBLIC);
  assert.deepEqual(variables.IDENTITY_SERVICE_ADMIN_PASSWORD, {
    kind: "generated",
    name: "IDENTITY_SERVICE_ADMIN_PASSWORD",
    bytes: 18,
  });
  assert.equal(variables.OBJSTORE_ROOT_PASSWORD.kind, "generated");
  const listening = resolve({ LOCALCLUSTER_EXTRA_OPTIONS: "--listen-address=0.0.0.0 --ports=:80:80,443:443" });
  assert.equal(listening.config.onLoopback, false);
  assert.equal(listening.variables.REGISTRY_ADMIN_PASSWORD.kind, "generated");
  assert.equal(resolve({ REQUIRE_LOCALCLUSTER: "false" }).variables.REGISTRY_ADMIN_PASSWORD.kind, "generated");
});

test("no two generated secrets are one", () => {
  const { variables } = resolve({}, PUBLIC);
  const names = Object.values(variables).flatMap((value: unknown) =>
    typeof value === "object" && value !== null && "kind" in value && value.kind === "generated" && "name" in value
      ? [value.name]
      : [],
  );
  assert.ok(names.length >= 7, names.join(" "));
  assert.equal(new Set(names).size, names.length, names.join(" "));
});

test("secrets follow IDENTITY_SERVICE_DEFAULT_SECRET where it is set, and a warning names what shares it", () => {
  const { variables, warnings } = resolve(
    { IDENTITY_SERVICE_DEFAULT_SECRET: "s3cret", IDENTITY_POSTGRES_PASSWORD: "other" },
    PUBLIC,
  );
  assert.deepEqual(variables.IDENTITY_SERVICE_ADMIN_PASSWORD, { kind: "given", value: "s3cret" });
  assert.deepEqual(variables.IDENTITY_GATEKEEPER_CLIENT_SECRET, { kind: "given", value: "s3cret" });
  assert.deepEqual(variables.IDENTITY_POSTGRES_PASSWORD, { kind: "given", value: "other" });
  const about = warnings.filter((warning) => warning.includes("IDENTITY_SERVICE_DEFAULT_SECRET"));
  assert.equal(about.length, 1, warnings.join("\n"));
  assert.match(about[0] ?? "", /IDENTITY_SERVICE_ADMIN_PASSWORD.*IDENTITY_GATEKEEPER_CLIENT_SECRET/);
  assert.doesNotMatch(about[0] ?? "", /IDENTITY_POSTGRES_PASSWORD|s3cret|eric/);
});

test("the default secret alone warns of nothing when nothing shares it", () => {
  const env = Object.fromEntries(IDENTITY_SECRETS.map((name) => [name, `${name} of its own`]));
  assert.deepEqual(resolve(env).warnings, []);
});

test("test users are made on the loopback interface, and elsewhere where they are asked for", () => {
  assert.equal(resolve().variables.IDENTITY_SERVICE_TEST_USERS, true);
  assert.equal(resolve({}, PUBLIC).variables.IDENTITY_SERVICE_TEST_USERS, false);
  assert.equal(resolve({ IDENTITY_SERVICE_TEST_USERS: "true" }, PUBLIC).variables.IDENTITY_SERVICE_TEST_USERS, true);
  assert.equal(resolve({ IDENTITY_SERVICE_TEST_USERS: "false" }).variables.IDENTITY_SERVICE_TEST_USERS, false);
});

test("storage classes follow DEFAULT_STORAGE", () => {
  const { variables } = resolve({ DEFAULT_STORAGE: "fast", MINIO_STORAGE: "slow" });
  assert.deepEqual([variables.ADES_STORAGE, variables.OBJSTORE_STORAGE], ["fast", "slow"]);
});

test("the known product's names and words are understood", () => {
  const { variables, config, mistakes, warnings } = resolve({
    REQUIRE_MINIKUBE: "true",
    MINIKUBE_MEMORY_AMOUNT: "6g",
    REQUIRE_HARBOR: "false",
    REQUIRE_WORKSPACE_API: "false",
    STAGEOUT_TARGET: "minio",
    PROCESSING_MAX_RAM: "4Gi",
  });
  assert.deepEqual([mistakes, warnings], [[], []]);
  assert.equal(variables.LOCALCLUSTER_MEMORY_AMOUNT, "6g");
  assert.equal(variables.REQUIRE_REGISTRY, false);
  assert.equal(variables.STAGEOUT_TARGET, "objstore");
  assert.deepEqual(config.origins.LOCALCLUSTER_MEMORY_AMOUNT, { kind: "alias", name: "MINIKUBE_MEMORY_AMOUNT" });
});

test("a name and its alias with different values are a mistake, with the same value none", () => {
  assert.deepEqual(resolve({ REQUIRE_REGISTRY: "true", REQUIRE_HARBOR: "true" }).mistakes, []);
  assert.deepEqual(resolve({ REQUIRE_REGISTRY: "true", REQUIRE_HARBOR: "false" }).mistakes, [
    'REQUIRE_HARBOR="false" contradicts REQUIRE_REGISTRY="true": they are names of the same variable; set one of them',
  ]);
});

test("all mistakes are reported at once, with variable, value and what is allowed, secrets left out", () => {
  const { mistakes } = resolve(
    { REQUIRE_ADES: "yes", PROCESSING_MAX_RAM: "lots", TEMP_FORWARDING_PORT: "70000", OBJSTORE_ROOT_PASSWORD: "short" },
    { action: "aply", arg3: "10.0.0.1", arg4: "10.0.0.2" },
  );
  assert.deepEqual(mistakes, [
    'action="aply" is not an action; allowed: apply, delete, template',
    'arguments="10.0.0.1 10.0.0.2" are two addresses, where one is a domain and the other the public address',
    'REQUIRE_ADES="yes" is neither; allowed: true or false',
    "OBJSTORE_ROOT_PASSWORD is too short; allowed: at least 8 characters, no line break",
    'PROCESSING_MAX_RAM="lots" is not a size above zero; allowed: a quantity like 8Gi or 512Mi',
    'TEMP_FORWARDING_PORT="70000" is not such a number; allowed: a whole number from 1 to 65535',
  ]);
});

test("unknown REQUIRE_ and USE_ names warn with the nearest known one", () => {
  const { warnings } = resolve({
    REQUIRE_REGISTY: "true",
    USE_TSL: "false",
    USE_CCACHE_DIRECTORY_OF_MINE: "1",
    MINIKUBE_HOME: "/x",
  });
  assert.deepEqual(warnings, [
    "REQUIRE_REGISTY: is not a variable of the deployment and is ignored; did you mean REQUIRE_REGISTRY?",
    "USE_CCACHE_DIRECTORY_OF_MINE: is not a variable of the deployment and is ignored",
    "USE_TSL: is not a variable of the deployment and is ignored; did you mean USE_TLS?",
  ]);
});

test("contradictions the known system warned of are warned of", () => {
  const neither = resolve({ OPEN_INGRESS: "false", REQUIRE_IDENTITY_SERVICE: "false" });
  assert.ok(neither.warnings.some((warning) => warning.includes("neither open nor protected")));
  assert.deepEqual(neither.mistakes, []);
  const noStore = resolve({ STAGEOUT_TARGET: "objstore", REQUIRE_OBJSTORE: "false" });
  assert.ok(noStore.warnings.some((warning) => warning.startsWith("STAGEOUT_TARGET: is objstore, but")));
  assert.ok(
    noStore.warnings.some((warning) => warning.startsWith("REQUIRE_WORKSPACE_API: is true, but REQUIRE_OBJSTORE")),
  );
  const noRegistry = resolve({ REQUIRE_REGISTRY: "false" });
  assert.ok(noRegistry.warnings.some((warning) => warning.includes("REQUIRE_REGISTRY is false")));
  const b = resolve({ PLATFORM_VARIANT: "B", REQUIRE_BUCKET_OPERATOR: "false" });
  assert.ok(b.warnings.some((warning) => warning.includes("REQUIRE_BUCKET_OPERATOR is false")));
});

test("protection that was asked for without an identity service is a mistake", () => {
  const { mistakes } = resolve({ REQUIRE_IDENTITY_SERVICE: "false", REQUIRE_ADES_PROTECTION: "true" });
  assert.equal(mistakes.length, 1);
  assert.match(mistakes[0] ?? "", /^REQUIRE_ADES_PROTECTION is true, but there is no identity service/);
});

test("a cluster of unknown address needs a domain to apply, and can be rendered without", () => {
  const facts = { clusterIp: undefined, wildcardDnsResolves: true };
  assert.match(resolve({ REQUIRE_LOCALCLUSTER: "false" }, {}, facts).mistakes[0] ?? "", /^domain must be given/);
  assert.deepEqual(resolve({ REQUIRE_LOCALCLUSTER: "false" }, { action: "template" }, facts).mistakes, []);
  assert.deepEqual(resolve({ REQUIRE_LOCALCLUSTER: "false" }, { arg3: "eo.example.org" }, facts).mistakes, []);
});

test("ports of this machine show in the public port", () => {
  assert.equal(resolve({ LOCALCLUSTER_EXTRA_OPTIONS: "--ports=9080:80,9443:443" }).config.publicPort, 9443);
  const facts = { ...online, ingressPorts: { http: 8080, https: 8443 } };
  assert.equal(resolve({ USE_TLS: "false" }, {}, facts).config.publicPort, 8080);
});

test("the same input gives the same result", () => {
  const input = { env: { OPEN_INGRESS: "true" }, args: {}, facts: offline };
  assert.deepEqual(resolveConfig(input), resolveConfig(input));
});

test("private hosts that processing may reach are names, addresses and networks, none by default", () => {
  const explicit = (text: string) => resolve({ PROCESSING_ALLOW_PRIVATE: text });
  assert.equal(resolve().variables.PROCESSING_ALLOW_PRIVATE, undefined);
  const fine = "data.intranet, 10.1.0.0/16,fd00::/8,192.168.1.1";
  assert.deepEqual([explicit(fine).mistakes, explicit(fine).variables.PROCESSING_ALLOW_PRIVATE], [[], fine]);
  for (const wrong of ["0.0.0.0/0", "10.0.0.0/33", "10.0.0", "http://data.intranet/", "a,,b", "10.1.0.0/16/8"]) {
    assert.match(explicit(wrong).mistakes.join(), /PROCESSING_ALLOW_PRIVATE.*allowed: host names, addresses/s, wrong);
  }
});

test("tools without isolation need a second word where other machines reach the ingress", () => {
  const listening = { LOCALCLUSTER_EXTRA_OPTIONS: "--listen-address=0.0.0.0", PROCESSING_HOST_TOOLS: "open" };
  assert.match(resolve(listening).mistakes.join(), /PROCESSING_HOST_TOOLS.*PROCESSING_HOST_TOOLS_EXPOSED=true/);
  assert.deepEqual(resolve({ ...listening, PROCESSING_HOST_TOOLS_EXPOSED: "true" }).mistakes, []);
  assert.deepEqual(resolve({ PROCESSING_HOST_TOOLS: "open" }).mistakes, []);
});
