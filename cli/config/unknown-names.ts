import { distance } from "fastest-levenshtein";
import type { Warning } from "./report.ts";

/** Names that begin so are meant for the deployment, whoever wrote them. */
const switchPrefixes = ["REQUIRE_", "USE_"];
/** Names that begin so may belong to another program, so only a near miss of a known name earns a warning. */
const sharedPrefixes = [
  "LOCALCLUSTER_",
  "IDENTITY_",
  "OBJSTORE_",
  "REGISTRY_",
  "PROCESSING_",
  "STAGEOUT_",
  "OPEN_",
  "TLS_",
  "MINIKUBE_",
  "MINIO_",
  "HARBOR_",
  "CLOUD_",
  "CLOUDDATA_",
  "LOGIN_",
  "INSTALL_",
  "REGISTRATION_",
];

/** Warns of variables of the environment that look like the deployment's and are not. */
export function warnOfUnknownNames(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): Warning[] {
  const isKnown = new Set(known);
  const warnings: Warning[] = [];
  for (const name of Object.keys(env).sort()) {
    if (isKnown.has(name) || env[name] === undefined || env[name] === "") {
      continue;
    }
    const isSwitch = switchPrefixes.some((prefix) => name.startsWith(prefix));
    if (!isSwitch && !sharedPrefixes.some((prefix) => name.startsWith(prefix))) {
      continue;
    }
    const nearest = findNearest(name, known, isSwitch ? Math.max(3, Math.floor(name.length / 3)) : 2);
    if (nearest !== undefined) {
      warnings.push({
        subject: name,
        message: `is not a variable of the deployment and is ignored; did you mean ${nearest}?`,
      });
    } else if (isSwitch) {
      warnings.push({ subject: name, message: "is not a variable of the deployment and is ignored" });
    }
  }
  return warnings;
}

/** The known name with the fewest edits between it and `name`, if there are at most `most`. */
export function findNearest(name: string, known: readonly string[], most: number): string | undefined {
  let best: { readonly name: string; readonly edits: number } | undefined;
  for (const candidate of known) {
    const edits = distance(name, candidate);
    if (edits <= most && (best === undefined || edits < best.edits)) {
      best = { name: candidate, edits };
    }
  }
  return best?.name;
}
