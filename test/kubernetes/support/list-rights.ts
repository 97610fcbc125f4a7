import { mustKubectl } from "@swath/testing/kubernetes";

/** Rights of an account in a namespace, without those that every account has. */
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
    })
    .toSorted();
}

/** The rights of every service account of a deployment, in its own namespace and in one that is not the platform's. */
export async function listAllRights(deployment: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const path = 'jsonpath={range .items[*]}{.metadata.namespace}:{.metadata.name}{"\\n"}{end}';
  const selector = `swath.io/deployment=${deployment}`;
  const accounts = await mustKubectl(["get", "serviceaccounts", "-A", "-l", selector, "-o", path]);
  const rights: Record<string, readonly string[]> = {};
  for (const account of accounts.trim().split("\n")) {
    for (const namespace of ["kube-system", account.split(":")[0] ?? ""]) {
      rights[`${account} in ${namespace}`] = await listRights(account, namespace);
    }
  }
  return rights;
}
