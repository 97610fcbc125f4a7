import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const folder = join(root, "deploy/monitoring");
const rules = readFileSync(join(folder, "rules.yml"), "utf8");
const reference = readFileSync(join(root, "docs/reference/metrics.md"), "utf8");

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(readFileSync(join(folder, "dashboard.json"), "utf8")) as {
  readonly uid: string;
  readonly panels: readonly Panel[];
};
const expressions = [
  ...[...rules.matchAll(/^ +expr: (?:\|\n((?: {10,}.*\n)+)|(.*)\n)/gm)].map(([, block, line]) => block ?? line ?? ""),
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];

/** Names in an expression that are neither functions nor labels. */
function metricsOf(expression: string): readonly string[] {
  const bare = expression
    .replace(/"[^"]*"|\[[^\]]*\]/g, "")
    .replace(/\{[^}]*\}/g, "")
    .replace(/\b(by|without) *\([^)]*\)/g, "");
  return [...bare.matchAll(/[a-z]\w*_\w+(?! *\()\b/g)]
    .map(([name]) => name)
    .filter((name) => name !== "histogram_quantile");
}

/** Names of the table of the reference page; `*` stands for the rest of a name. */
const documented = [...reference.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`([\w*]+)`/g)].map(
    ([, name = ""]) => new RegExp(`^${name.replace("*", "\\w+")}(_bucket|_count|_sum)?$`),
  ),
);

test("dashboard and alerts use metrics of the reference page alone", () => {
  assert.ok(expressions.length > 25, `${expressions.length} expressions`);
  const used = new Set(expressions.flatMap(metricsOf));
  assert.ok(used.has("http_request_seconds_count") && used.has("processing_longest_wait_seconds"), [...used].join());
  const unknown = [...used].filter((name) => !documented.some((pattern) => pattern.test(name)));
  assert.deepEqual(unknown, []);
});

test("every alert says what is wrong and what to do", () => {
  const alerts = rules.split(/^ +- alert: /m).slice(1);
  for (const alert of alerts) {
    assert.match(alert, /severity: (critical|warning)[^]*summary: "[^]*description: "/);
  }
});

test("panels of the dashboard have ids of their own", () => {
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(dashboard.uid, "swath");
});

const promtool = spawnSync("promtool", ["--version"]).status === 0;

test("promtool takes the rules", { skip: !promtool && "needs promtool (apt-get install prometheus)" }, () => {
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", join(folder, "rules.yml")], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stdout + stderr);
});

test(
  "promtool takes the expressions of the dashboard",
  { skip: !promtool && "needs promtool (apt-get install prometheus)" },
  () => {
    const groups = dashboard.panels
      .flatMap(({ targets = [] }) => targets)
      .map(({ expr }, index) => ({ record: `panel:number${index}`, expr: expr.replaceAll("$__rate_interval", "5m") }));
    const directory = mkdtempSync(join(tmpdir(), "swath-promtool-"));
    try {
      const file = join(directory, "rules.json");
      writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules: groups }] }));
      const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
      assert.equal(status, 0, stdout + stderr);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
