import type { KubernetesObject, PodTemplate } from "@swath/kubernetes";

import { keys } from "../render/labels.ts";
import { isController } from "./kinds.ts";

/** Controllers with the live image where their program is of the same version in it: what everybody waits for is not restarted for nothing. */
export function keepImages(
  objects: readonly KubernetesObject[],
  live: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  return objects.map((object) => {
    const version = isController(object) ? versionOf(object) : undefined;
    if (version === undefined) {
      return object;
    }
    const present = live.find(
      ({ kind, metadata }) =>
        kind === object.kind &&
        metadata.name === object.metadata.name &&
        metadata.namespace === object.metadata.namespace,
    );
    const image = present === undefined ? undefined : templateOf(present)?.spec.containers[0]?.image;
    return present === undefined || image === undefined || versionOf(present) !== version
      ? object
      : withImage(object, image);
  });
}

const templateOf = (object: KubernetesObject) =>
  (object["spec"] as { readonly template?: PodTemplate } | undefined)?.template;

const versionOf = (object: KubernetesObject): string | undefined =>
  templateOf(object)?.metadata.annotations?.[keys.keepImageOf];

function withImage(object: KubernetesObject, image: string): KubernetesObject {
  const spec = object["spec"] as { readonly template: PodTemplate };
  const { template } = spec;
  const [first, ...others] = template.spec.containers;
  const containers = first === undefined ? [] : [{ ...first, image }, ...others];
  return { ...object, spec: { ...spec, template: { ...template, spec: { ...template.spec, containers } } } };
}
