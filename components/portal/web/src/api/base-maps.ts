import { type BaseMapOption, requestJson } from "@swath/ui";

import type { PortalConfig } from "../session/portal.ts";
import { serviceUrl } from "./services.ts";

/** Layers of the platform that are offered as imagery. */
const MAX_LAYERS = 20;

/** What maps can have below them: what the operator configured, and layers of the platform itself. */
export async function listBaseMaps({
  services,
  base_maps: configured = [],
}: PortalConfig): Promise<readonly BaseMapOption[]> {
  if (!services.includes("data-access")) {
    return configured;
  }
  const { collections } = await requestJson<{
    readonly collections: readonly { readonly id: string; readonly title?: string }[];
  }>(serviceUrl("data-access", "/collections"));
  const layers = collections
    // Layers of single items are too small to orient by.
    .filter(({ id }) => !id.includes("__"))
    .slice(0, MAX_LAYERS)
    .map(({ id, title }) => ({
      id: `layer ${id}`,
      title: `Imagery: ${title ?? id}`,
      url: serviceUrl("data-access", `/collections/${encodeURIComponent(id)}/tiles/WebMercatorQuad/{z}/{x}/{y}.png`),
    }));
  return [...configured, ...layers];
}
