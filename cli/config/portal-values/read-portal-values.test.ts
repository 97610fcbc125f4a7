import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { formatMistake } from "../report.ts";
import { readPortalValues } from "./read-portal-values.ts";

const read = (text: string) => {
  const { values, mistakes } = readPortalValues({ path: "values.yaml", content: { text } }, "swath.example.org");
  return { values, mistakes: mistakes.map(formatMistake) };
};

describe("the portal's chart values", () => {
  test("are taken key by key", () => {
    const { values, mistakes } = read(`
# ours
configMap:
  identity_url: "https://sso.example.org"
  access_token_domain: .swath.example.org
ingress:
  enabled: true
  annotations:
    nginx.ingress.kubernetes.io/ssl-redirect: "true"
  hosts:
    - host: eo-portal.swath.example.org
      paths:
        - path: /
          pathType: Prefix
  tls:
    - secretName: eo-portal-tls
      hosts: [eo-portal.swath.example.org]
`);
    assert.deepEqual(mistakes, []);
    assert.deepEqual(values, {
      configMap: { identity_url: "https://sso.example.org", access_token_domain: ".swath.example.org" },
      ingress: {
        enabled: true,
        annotations: { "nginx.ingress.kubernetes.io/ssl-redirect": "true" },
        hosts: [{ host: "eo-portal.swath.example.org", paths: [{ path: "/", pathType: "Prefix" }] }],
        tls: [{ secretName: "eo-portal-tls", hosts: ["eo-portal.swath.example.org"] }],
      },
    });
  });

  test("a file of nothing overrides nothing", () => {
    assert.deepEqual(read("# nothing yet\n"), { values: {}, mistakes: [] });
    assert.deepEqual(read(""), { values: {}, mistakes: [] });
  });

  test("unknown keys and values that cannot be are named with their lines, all at once", () => {
    const { values, mistakes } = read(`configMap:
  identity_uri: https://x.example.org
  realm: 5
  ades_url: ftp://x
  refresh_token_domain: .example.org
  client_id: mine
ingress:
  enabled: yes
  hosts:
    - host: portal.elsewhere.org
  annotations:
    a: true
replicas: 2
`);
    assert.deepEqual(values.configMap, { client_id: "mine" });
    assert.deepEqual(
      mistakes.map((line) => line.replace(/; allowed: .*/, "")),
      [
        "PORTAL_VALUES values.yaml:2 configMap.identity_uri is not a key here; did you mean identity_url?",
        'PORTAL_VALUES values.yaml:3 configMap.realm="5" is not a text; write it in quotes',
        'PORTAL_VALUES values.yaml:4 configMap.ades_url="ftp://x" is not an address',
        'PORTAL_VALUES values.yaml:5 configMap.refresh_token_domain=".example.org" is not the deployment\'s domain',
        'PORTAL_VALUES values.yaml:8 ingress.enabled="yes" is neither',
        'PORTAL_VALUES values.yaml:10 ingress.hosts.0.host="portal.elsewhere.org" is not a host of the deployment',
        'PORTAL_VALUES values.yaml:12 ingress.annotations.a="true" is not a text; write it in quotes',
        "PORTAL_VALUES values.yaml:13 replicas is not a key here",
      ],
    );
    assert.match(mistakes.at(-1) ?? "", /allowed: configMap, ingress$/);
  });

  test("what is no YAML, no mapping or not there is said so", () => {
    assert.match(read("configMap: [").mistakes.join(), /values\.yaml:1 /);
    assert.match(read("- a").mistakes.join(), /the file is not a mapping/);
    assert.match(read("a: &x [1]\nconfigMap: *x").mistakes.join(), /configMap is not a mapping/);
    const missing = readPortalValues({ path: "no.yaml", content: { problem: "cannot be read" } }, "x");
    assert.match(missing.mistakes.map(formatMistake).join(), /PORTAL_VALUES="no.yaml" cannot be read/);
  });
});
