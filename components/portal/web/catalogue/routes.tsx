import { loadPage } from "@swath/ui";
import type { RouteObject } from "react-router";

/** The addresses below `/catalogue`. */
export function catalogueRoutes(): RouteObject[] {
  return [
    { index: true, lazy: () => loadPage(() => import("./pages/search.tsx")) },
    { path: "collections", lazy: () => loadPage(() => import("./pages/collection-list.tsx")) },
    { path: "collections/:collection", lazy: () => loadPage(() => import("./pages/collection-page.tsx")) },
    { path: "collections/:collection/items/:item", lazy: () => loadPage(() => import("./pages/item-page.tsx")) },
    // Not below `collections`: a collection may have any id.
    { path: "new-collection", lazy: () => loadPage(() => import("./pages/collection-form.tsx")) },
    { path: "collections/:collection/edit", lazy: () => loadPage(() => import("./pages/collection-form.tsx")) },
    { path: "collections/:collection/new-item", lazy: () => loadPage(() => import("./pages/item-form.tsx")) },
    { path: "collections/:collection/items/:item/edit", lazy: () => loadPage(() => import("./pages/item-form.tsx")) },
  ];
}
