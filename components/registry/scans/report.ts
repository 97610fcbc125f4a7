import type { ScanResult } from "../store/scans.ts";

const SEVERITIES = ["Unknown", "Negligible", "Low", "Medium", "High", "Critical"] as const;
type Severity = (typeof SEVERITIES)[number];

const toSeverity = (value: unknown): Severity => SEVERITIES.find((severity) => severity === value) ?? "Unknown";

/** What a report says in a line: the worst severity, and how many there are of each. A report without findings is of severity None. */
export function summarize(document: Readonly<Record<string, unknown>>, name: string): ScanResult {
  const found = Array.isArray(document["vulnerabilities"]) ? (document["vulnerabilities"] as readonly unknown[]) : [];
  const summary: Record<string, number> = {};
  let worst = -1;
  for (const each of found) {
    const severity = toSeverity((each as { severity?: unknown } | null)?.severity);
    summary[severity] = (summary[severity] ?? 0) + 1;
    worst = Math.max(worst, SEVERITIES.indexOf(severity));
  }
  const { name: own, version } = (document["scanner"] ?? {}) as { name?: unknown; version?: unknown };
  const scanner = [own, version].filter((part) => typeof part === "string").join(" ");
  return { scanner: scanner || name, severity: SEVERITIES[worst] ?? "None", summary, report: document };
}
