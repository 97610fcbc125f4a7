import assert from "node:assert/strict";
import { test } from "node:test";

import { summarize } from "./report.ts";

test("a report in a line: how many of each severity, and the worst", () => {
  const vulnerabilities = [{ severity: "Low" }, { severity: "High" }, { severity: "Low" }, { severity: "odd" }, null];
  const { scanner, severity, summary } = summarize(
    { scanner: { name: "Trivy", version: "0.50" }, vulnerabilities },
    "mine",
  );
  assert.deepEqual([scanner, severity, summary], ["Trivy 0.50", "High", { Low: 2, High: 1, Unknown: 2 }]);
  assert.deepEqual(summarize({ vulnerabilities: null }, "mine").severity, "None");
  assert.equal(summarize({}, "mine").scanner, "mine");
});
