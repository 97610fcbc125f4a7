import assert from "node:assert/strict";
import { test } from "node:test";

import { takeTemplateOptions } from "./template-options.ts";

test("options of template are found among its arguments", () => {
  assert.deepEqual(takeTemplateOptions(["template", "swath", "", "--for", "1.34", "--secrets=none", "192.0.2.1"]), {
    secrets: "none",
    version: "1.34",
    rest: ["template", "swath", "", "192.0.2.1"],
  });
  assert.deepEqual(takeTemplateOptions(["template", "--sealed", "certificate.pem", "swath"]), {
    secrets: "described",
    version: undefined,
    sealed: "certificate.pem",
    rest: ["template", "swath"],
  });
  assert.deepEqual(
    takeTemplateOptions(["template", "--layout", "helm", "--out", "chart", "--secrets", "none", "swath"]),
    { secrets: "none", version: undefined, tree: { layout: "helm", folder: "chart" }, rest: ["template", "swath"] },
  );
  assert.deepEqual(takeTemplateOptions([]), { secrets: "described", version: undefined, rest: [] });
});

test("what is no choice, no version, no option, or for another action, is refused by name", () => {
  for (const [args, message] of [
    [["template", "--secrets", "all"], /--secrets all is not a choice; allowed: described, none, only/],
    [["template", "--secrets"], /--secrets needs a value/],
    [["template", "--for", "latest"], /--for latest is not a version of Kubernetes; allowed: such as 1\.34/],
    [["template", "--four", "1.34"], /--four is not an option/],
    [["template", "--sealed"], /--sealed needs a value: the controller's certificate/],
    [["template", "--sealed", "a.pem", "--secrets", "none"], /leave --secrets none out/],
    [["template", "--layout", "flux", "--out", "x"], /--layout flux is not a choice; allowed: kustomize, helm/],
    [["template", "--layout", "helm", "--secrets", "none"], /--layout kustomize\|helm and --out FOLDER go together/],
    [["template", "--out", "x", "--secrets", "none"], /go together/],
    [["template", "--layout", "helm", "--out", "x"], /a repository holds no Secrets: seal them/],
    [["apply", "--sealed", "a.pem"], /--sealed is an option of the action template/],
    [["apply", "--for", "1.34"], /--for is an option of the action template/],
  ] as const) {
    assert.throws(() => takeTemplateOptions(args), message);
  }
});
