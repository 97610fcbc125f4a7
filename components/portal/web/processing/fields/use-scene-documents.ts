import { requestJson } from "@swath/ui";
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";

import { assetUrl } from "../../catalogue/api/catalogue.ts";
import { type Scene, toScene } from "./scene-sources.ts";

/** Addresses of one form that are looked at. */
const MAX_DOCUMENTS = 20;

/** The scenes whose addresses were typed or came with the page's address: maps show where they lie, as those that were chosen. */
export function useSceneDocuments(
  inputs: Readonly<Record<string, unknown>>,
  chosen: ReadonlyMap<string, Scene>,
): ReadonlyMap<string, Scene> {
  const hrefs = [...new Set(listAddresses(inputs))].filter((href) => !chosen.has(href)).slice(0, MAX_DOCUMENTS);
  const documents = useQueries({
    queries: hrefs.map((href) => ({
      queryKey: ["scene-document", href],
      // An address that is no STAC item, or cannot be read, is on no map; the service says what is wrong with it.
      queryFn: async () => toScene(await requestJson<unknown>(assetUrl({ href }) ?? ""), href, href) ?? null,
      enabled: assetUrl({ href }) !== undefined,
      staleTime: 60_000,
      retry: false,
    })),
  });
  const read = documents.flatMap(({ data }) => data ?? []);
  const key = read.map(({ href }) => href).join("\n");
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the same scenes are the same map
  return useMemo(() => new Map(read.map((scene) => [scene.href, scene])), [key]);
}

/** Texts in inputs that may be addresses of STAC items. */
function listAddresses(value: unknown): readonly string[] {
  if (typeof value === "string") {
    return /^(s3|https?):\/\/\S+$/.test(value) && !/\.(tiff?|jp2|zip|nc)$/i.test(value) ? [value] : [];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listAddresses) : [];
}
