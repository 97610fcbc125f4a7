import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Verbs by resource, and by names where a right is for named objects only. */
export type Rights = Readonly<Record<string, readonly string[]>>;

/** What `docs/how-to/kubernetes.md` says of each account: in a namespace of others, in its own, and in that of a workspace. */
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

/** Of `pods get list`, `clusterroles bind NAME`. */
export function toRights(texts: readonly string[]): Rights {
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
