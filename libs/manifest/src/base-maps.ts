import type { PlatformSettings } from "./settings.ts";

/** The operator's base maps, for every page with a map: those of the portal's values, else of BASE_MAPS. */
export const baseMapsOf = ({ portalValues, variables }: PlatformSettings): string =>
  portalValues?.configMap?.base_maps ?? variables.BASE_MAPS ?? "";
