import { hostname } from "node:os";

import type { SealedLine } from "@swath/postgres/audit";

/** Facility 13, log audit; severity 5, notice (RFC 5424 §6.2.1). */
const PRIORITY = 13 * 8 + 5;

/** A line of the trail as a syslog message (RFC 5424): its number and hash as structured data, the line itself as the message. */
export function toSyslog({ n, line, hash }: SealedLine, cluster: string): string {
  const { at, service } = JSON.parse(line) as { at?: string; service?: string };
  const name = (service ?? "-").replaceAll(/[^!-~]/g, "_").slice(0, 48);
  return `<${PRIORITY}>1 ${at ?? "-"} ${hostname()} swath-${name} - audit [swath@32473 n="${n}" hash="${hash}" cluster="${escape(cluster)}"] ${line}\n`;
}

/** §6.3.3 */
const escape = (value: string): string => value.replaceAll(/["\\\]]/g, "\\$&");
