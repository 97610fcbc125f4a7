import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import type { IngressConfig } from "../ingress/config.ts";
import { clusterPaths } from "../state/paths.ts";
import { publishForIngress, publishedConfig } from "./ingress-folder.ts";

const state = mkdtempSync(join(tmpdir(), "swath-ingress-folder-"));
after(() => rmSync(state, { recursive: true, force: true }));
const paths = clusterPaths("a", { SWATH_STATE_DIR: state });
const group = process.getgid?.() ?? 0;

test("publishes the certificates and the authority of the configuration for one group, and removes those of before", () => {
  mkdirSync(paths.tls, { recursive: true });
  const file = join(paths.tls, "local-ca.pem");
  writeFileSync(join(paths.tls, "a.test.ca.key"), "authority");
  writeFileSync(join(paths.tls, "account.key"), "an account at an ACME server");
  const config: IngressConfig = {
    listeners: [],
    sslRedirect: true,
    routes: [],
    tls: {
      certificates: [{ hosts: ["a.test"], certFile: file, keyFile: file }],
      workspaces: { caFolder: paths.tls, domain: "a.test" },
    },
  };
  const publish = (content: string) => {
    writeFileSync(file, content);
    publishForIngress(config, paths, group);
    return JSON.parse(readFileSync(publishedConfig(paths), "utf8")) as IngressConfig;
  };
  const [first] = publish("first").tls.certificates;
  assert.equal(readFileSync(first?.keyFile ?? "", "utf8"), "first");
  const second = publish("second");
  assert.notEqual(second.tls.certificates[0]?.certFile, first?.certFile);
  assert.equal(readFileSync(join(second.tls.workspaces?.caFolder ?? "", "a.test.ca.key"), "utf8"), "authority");
  const files = readdirSync(paths.ingress, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  assert.equal(files.length, 3, files.map(({ name }) => name).join());
  for (const { name, parentPath } of files) {
    assert.equal(statSync(join(parentPath, name)).mode & 0o777, 0o640, name);
    assert.doesNotMatch(readFileSync(join(parentPath, name), "utf8"), /ACME|first/);
  }
});
