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
