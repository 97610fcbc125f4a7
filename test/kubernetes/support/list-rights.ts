import { readFileSync } from "node:fs";
import { join } from "node:path";

import { mustKubectl } from "@swath/testing/kubernetes";

/** Verbs by resource, and by names where a right is for named objects only. */
type Rights = Readonly<Record<string, readonly string[]>>;

/** Rights of an account in a namespace as `pods get list`, without those that every account has. */
export async function listRights(account: string, namespace: string): Promise<readonly string[]> {
  const table = await mustKubectl([
    "auth",
    "can-i",
    "--list",
    "--no-headers",
    `--as=system:serviceaccount:${account}`,
    "-n",
    namespace,
  ]);
  return table
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s|selfsubject/.test(line))
    .map((line) => {
      const [resource = ""] = line.split(/\s/);
      const [, names = "", verbs = ""] = [...line.matchAll(/\[([^\]]*)\]/g)].map(([, inside]) => inside ?? "");
      return [resource, verbs, names].filter((part) => part !== "").join(" ");
    });
}

/** The rights of every service account of a deployment: in a namespace of others, in its own, and in that of a workspace. */
export async function listAllRights(deployment: string, workspace: string): Promise<Readonly<Record<string, Rights>>> {
  const path = 'jsonpath={range .items[*]}{.metadata.namespace}:{.metadata.name}{"\\n"}{end}';
  const selector = `swath.io/deployment=${deployment}`;
  const accounts = await mustKubectl(["get", "serviceaccounts", "-A", "-l", selector, "-o", path]);
  const rights: Record<string, Rights> = {};
  for (const account of accounts.trim().split("\n")) {
    for (const namespace of ["kube-system", account.split(":")[0] ?? "", workspace]) {
      rights[`${account} in ${namespace}`] = toRights(await listRights(account, namespace));
    }
  }
  return rights;
}

/** The same as `docs/how-to/kubernetes.md` says it. */
export function readDocumentedRights(workspace: string): Readonly<Record<string, Rights>> {
  const text = readFileSync(join(import.meta.dirname, "../../../docs/how-to/kubernetes.md"), "utf8");
  const [, section = ""] = text.split("### What service accounts may do\n");
  const [table = ""] = section.split(/\n#/);
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  return Object.fromEntries(
    rows.flatMap((row) => {
      const [[account = ""] = [], everywhere = [], own = [], inWorkspaces = []] = row
        .split("|")
        .slice(1)
        .map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? ""));
      const namespace = account.split(":")[0] ?? "";
      return [
        [`${account} in kube-system`, toRights(everywhere)],
        [`${account} in ${namespace}`, toRights([...everywhere, ...own])],
        [`${account} in ${workspace}`, toRights([...everywhere, ...inWorkspaces])],
      ] as const;
    }),
  );
}

const VERBS = new Set(["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "bind", "*"]);

/** `pods get list`, `clusterroles bind NAME` */
function toRights(texts: readonly string[]): Rights {
  const rights = new Map<string, Set<string>>();
  for (const text of texts) {
    const [resource = "", ...words] = text.split(" ");
    const names = words.filter((word) => !VERBS.has(word));
    for (const key of names.length === 0 ? [resource] : names.map((name) => `${resource} ${name}`)) {
      const verbs = rights.get(key) ?? new Set();
      words.filter((word) => VERBS.has(word)).forEach((verb) => verbs.add(verb));
      rights.set(key, verbs);
    }
  }
  return Object.fromEntries(
    [...rights].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, verbs]) => [key, [...verbs].toSorted()]),
  );
}
