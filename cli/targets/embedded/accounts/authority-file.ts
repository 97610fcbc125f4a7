import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Plan } from "../../../platform/plan.ts";
import type { ClusterPaths } from "../state/paths.ts";
import { listDomains } from "../tls/domains.ts";

/** Where services find the certificate of the authority that signs hosts of a domain; there is none where another one signs them. */
export const authorityFile = ({ authorities }: Pick<ClusterPaths, "authorities">, domain: string): string =>
  join(authorities, `${domain}.ca.crt`);

/** Copies the certificates, which are no secret, out of the folder of keys, which services may not enter. */
export function publishAuthorities(plan: Plan, paths: Pick<ClusterPaths, "authorities" | "tls">): void {
  mkdirSync(paths.authorities, { recursive: true, mode: 0o755 });
  for (const { domain } of listDomains(plan)) {
    const source = join(paths.tls, `${domain}.ca.crt`);
    const file = authorityFile(paths, domain);
    const content = existsSync(source) ? readFileSync(source) : undefined;
    if (content !== undefined && !(existsSync(file) && readFileSync(file).equals(content))) {
      writeFileSync(`${file}.writing`, content, { mode: 0o644 });
      renameSync(`${file}.writing`, file);
    }
  }
}
