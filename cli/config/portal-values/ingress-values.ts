import type { IngressTls, PortalIngress } from "@swath/manifest";

import type { ValuesFile } from "./values-file.ts";

/** One host below the domain, with the path `/`: the portal answers on nothing else. */
export function readHosts(
  file: ValuesFile,
  node: unknown,
  path: readonly string[],
  domain: string,
): PortalIngress["hosts"] {
  const items = file.itemsOf(node, path);
  if (items.length > 1) {
    file.refuse(node, path, "names more than one host", "one host");
  }
  return items.slice(0, 1).map(({ node: item, path: where }) => {
    let host = "";
    let paths: PortalIngress["hosts"][number]["paths"] = [{ path: "/", pathType: "Prefix" }];
    for (const entry of file.entriesOf(item, where, ["host", "paths"])) {
      if (entry.key === "paths") {
        paths = readPaths(file, entry.node, entry.path);
        continue;
      }
      host = file.textOf(entry.node, entry.path)?.toLowerCase() ?? "";
      if (host !== "" && !isBelow(host, domain)) {
        file.refuse(entry.node, entry.path, "is not a host of the deployment", `<name>.${domain}`);
      }
    }
    if (host === "") {
      file.refuse(item, where, "names no host", `host: <name>.${domain}`);
    }
    return { host, paths };
  });
}

function isBelow(host: string, domain: string): boolean {
  const suffix = `.${domain}`;
  return host.endsWith(suffix) && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(host.slice(0, -suffix.length));
}

function readPaths(file: ValuesFile, node: unknown, path: readonly string[]): PortalIngress["hosts"][number]["paths"] {
  return file.itemsOf(node, path).map(({ node: item, path: where }) => {
    const found = { path: "/", pathType: "Prefix" };
    for (const entry of file.entriesOf(item, where, ["path", "pathType"])) {
      const text = file.textOf(entry.node, entry.path);
      const only = entry.key === "path" ? "/" : "Prefix";
      if (text !== undefined && text !== only) {
        file.refuse(entry.node, entry.path, "does not lead to the whole portal", only);
      }
    }
    return found;
  });
}

export function readTls(file: ValuesFile, node: unknown, path: readonly string[]): readonly IngressTls[] {
  return file.itemsOf(node, path).map(({ node: item, path: where }) => {
    let secretName = "";
    let hosts: readonly string[] = [];
    for (const entry of file.entriesOf(item, where, ["secretName", "hosts"])) {
      if (entry.key === "hosts") {
        hosts = file.itemsOf(entry.node, entry.path).flatMap((host) => file.textOf(host.node, host.path) ?? []);
        continue;
      }
      secretName = file.textOf(entry.node, entry.path) ?? "";
      if (secretName !== "" && !/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(secretName)) {
        file.refuse(entry.node, entry.path, "is not the name of a Secret", "lower-case letters, digits, - and .");
      }
    }
    if (secretName === "") {
      file.refuse(item, where, "names no Secret", "secretName: <name>");
    }
    return { secretName, hosts };
  });
}
