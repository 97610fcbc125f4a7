import { mustKubectl } from "@swath/testing/kubernetes";

import { type Rights, toRights } from "./documented-rights.ts";

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
