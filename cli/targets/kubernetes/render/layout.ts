import { type KubernetesObject, toPlainYaml } from "@swath/kubernetes";

/** Trees that a deployment can be written as, for tools that bring a cluster to what a repository holds. */
export const layouts = ["kustomize", "helm"] as const;
export type Layout = (typeof layouts)[number];

/** Folder of the objects, which is written anew each time, and the file that stands for the tree. */
export const LAYOUT_PARTS: Readonly<Record<Layout, { readonly objects: string; readonly main: string }>> = {
  kustomize: { objects: "objects", main: "kustomization.yaml" },
  helm: { objects: "templates", main: "Chart.yaml" },
};

/** First line of the main file: what a later template may replace. */
export const LAYOUT_MARK = "# Written by `swath deploy template`; changes are lost with the next one.\n";

/** Kinds that hold data, or what holds it: removing one from a repository must not remove it from the cluster. */
const KEPT = new Set(["PersistentVolumeClaim", "Namespace"]);
const KEEP = {
  "argocd.argoproj.io/sync-options": "Prune=false",
  "helm.sh/resource-policy": "keep",
  "kustomize.toolkit.fluxcd.io/prune": "disabled",
};

interface LayoutOptions {
  readonly name: string;
  /** Semantic version of the product. */
  readonly version: string;
  /** What there is to know beside the objects: Secrets to be made, charts to be installed. Lines of comments. */
  readonly notes: string;
}

/** The files of a tree, by their path within it: one an object, in a folder for each namespace, and the same bytes for the same objects. */
export function renderLayout(
  layout: Layout,
  objects: readonly KubernetesObject[],
  { name, version, notes }: LayoutOptions,
): ReadonlyMap<string, string> {
  const { objects: folder, main } = LAYOUT_PARTS[layout];
  const files = new Map<string, string>();
  for (const object of objects.map(keep)) {
    const text = toPlainYaml(object);
    files.set(`${folder}/${pathOf(object)}`, layout === "helm" ? escapeTemplate(text) : text);
  }
  switch (layout) {
    case "kustomize":
      files.set(
        main,
        `${LAYOUT_MARK}${notes}${toPlainYaml({
          apiVersion: "kustomize.config.k8s.io/v1beta1",
          kind: "Kustomization",
          // A tool that sorts would have Jobs before what they wait for; nothing here needs an order.
          sortOptions: { order: "fifo" },
          resources: [...files.keys()],
        })}`,
      );
      break;
    case "helm":
      files.set(
        main,
        `${LAYOUT_MARK}${notes}${toPlainYaml({
          apiVersion: "v2",
          name,
          description: "An Earth-observation exploitation platform with the settings that it was written for",
          type: "application",
          version,
          appVersion: version,
        })}`,
      );
      files.set("values.yaml", "# The settings are part of the templates: write the chart anew to change them.\n{}\n");
      break;
  }
  return files;
}

function keep(object: KubernetesObject): KubernetesObject {
  const { metadata } = object;
  return KEPT.has(object.kind)
    ? { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...KEEP } } }
    : object;
}

const pathOf = ({ kind, metadata: { name, namespace } }: KubernetesObject): string =>
  `${namespace ?? "cluster"}/${kind.toLowerCase()}-${name.replace(/[^a-z0-9.-]/gi, "-")}.yaml`;

/** Text that Helm's templates print as it is. */
const escapeTemplate = (text: string): string => text.replaceAll("{{", '{{ "{{" }}');
