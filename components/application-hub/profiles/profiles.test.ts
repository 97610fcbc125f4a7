import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { ProfileFileError, parseProfiles } from "./parse.ts";
import { sizeOf } from "./quantities.ts";

const KNOWN = `profiles:
  - id: profile_1
    groups: [group-1, group-2]
    definition:
      display_name: Coder
      slug: coder
      default: false
      kubespawner_override:
        cpu_limit: 2
        cpu_guarantee: 500m
        mem_limit: 4G
        image: example/coder:1.0
        extra_resource_limits: { nvidia.com/gpu: 1 }
        extra_resource_guarantees: {}
    config_maps:
      - { name: bash-rc, key: bash-rc, mount_path: /workspace/.bashrc, default_mode: '0660', readonly: true, content: "alias ll='ls -l'", persist: false }
    volumes:
      - name: workspace-volume
        claim_name: workspace-claim
        size: 50Gi
        storage_class: standard
        access_modes: [ReadWriteOnce]
        volume_mount: { name: workspace-volume, mount_path: /workspace }
        persist: true
    pod_env_vars:
      HOME: /workspace
      XDG: { from_config_map: { name: bash-rc, key: bash-rc } }
    default_url: lab
    node_selector: { kubernetes.io/arch: amd64 }
    role_bindings:
      - name: pod-role-binding
        subjects: [{ name: default, kind: ServiceAccount }]
        role: { name: pod-role, resources: [pods, pods/log], verbs: [get, list], api_groups: [""] }
        persist: false
    image_pull_secrets: [{ name: cr-config, persist: false, data: e30= }]
    init_containers:
      - { name: init, image: example/init:1, command: [sh, -c, "true"], volume_mounts: [{ name: workspace-volume, mount_path: /workspace }] }
    manifests: [{ name: manifests, key: manifests, content: [], persist: false }]
    env_from_config_maps: [shared-config]
    env_from_secrets: [shared-secret]
    secret_mounts: [{ name: aws, mount_path: /root/.aws/credentials, sub_path: credentials }]
`;

test("a file with every known field is read, and so are the profiles that the hub brings", () => {
  const [profile] = parseProfiles(KNOWN);
  assert.equal(profile?.definition.slug, "coder");
  assert.deepEqual(profile && sizeOf(profile, {}), { cores: 2, memoryBytes: 4 * 2 ** 30 });
  const shipped = parseProfiles(readFileSync(join(import.meta.dirname, "shipped.yml"), "utf8"));
  assert.ok(shipped.some(({ embedded }) => embedded?.kind === "browser"));
  const sized = shipped.find(({ id }) => id === "notebook");
  assert.deepEqual(sized && sizeOf(sized, { size: "small" }), { cores: 1, memoryBytes: 2 ** 30 });
  assert.deepEqual(sized && sizeOf(sized, { size: "nonsense" }), { cores: 2, memoryBytes: 2 ** 31 });
});

const mistakesOf = (text: string): readonly (readonly [number, string])[] => {
  try {
    parseProfiles(text);
    return [];
  } catch (error) {
    assert.ok(error instanceof ProfileFileError, String(error));
    return error.mistakes.map(({ line, field }) => [line, field] as const);
  }
};

test("mistakes are told with their lines and fields, all at once", () => {
  const broken = KNOWN.replace("slug: coder", "slug: Not A Slug")
    .replace("mem_limit: 4G", "mem_limit: lots")
    .replace("    default_url: lab", "    default_uri: lab")
    .replace("name: bash-rc, key: bash-rc } }", "name: nowhere, key: x } }");
  const lines = broken.split("\n");
  const at = (text: string) => lines.findIndex((line) => line.includes(text)) + 1;
  const mistakes = mistakesOf(broken);
  for (const [text, field] of [
    ["Not A Slug", "profiles[0].definition.slug"],
    ["mem_limit", "profiles[0].definition.kubespawner_override.mem_limit"],
    ["default_uri", "profiles[0].default_uri"],
    ["nowhere", "profiles[0].pod_env_vars.XDG"],
  ] as const) {
    assert.ok(
      mistakes.some(([line, name]) => line === at(text) && name === field),
      `${field} on line ${at(text)} in ${JSON.stringify(mistakes)}`,
    );
  }
});

test("what is no YAML, too large or told twice is refused", () => {
  assert.equal(mistakesOf("profiles: [")[0]?.[1], "file");
  assert.ok(mistakesOf("profiles: {}").length > 0);
  assert.ok(mistakesOf(`# ${"x".repeat(1_000_001)}`).length > 0);
  const twice = KNOWN + KNOWN.slice(KNOWN.indexOf("  - id"));
  assert.ok(mistakesOf(twice).some(([, field]) => field === "profiles[1].id"));
  const bomb = `a: &a [x, x]\n${"bcdefghi"
    .split("")
    .map(
      (name, index) =>
        `${name}: &${name} [*${"abcdefghi"[index]}, *${"abcdefghi"[index]}, *${"abcdefghi"[index]}, *${"abcdefghi"[index]}]`,
    )
    .join("\n")}\nprofiles: [*i, *i, *i]`;
  assert.ok(mistakesOf(bomb).length > 0);
});
