import type { RouteObject } from "react-router";

/** The addresses below `/catalogue`. */
export function catalogueRoutes(): RouteObject[] {
  return [
    { index: true, lazy: () => import("./pages/search.tsx") },
    { path: "collections", lazy: () => import("./pages/collection-list.tsx") },
    { path: "collections/:collection", lazy: () => import("./pages/collection-page.tsx") },
    { path: "collections/:collection/items/:item", lazy: () => import("./pages/item-page.tsx") },
    // Not below `collections`: a collection may have any id.
    { path: "new-collection", lazy: () => import("./pages/collection-form.tsx") },
    { path: "collections/:collection/edit", lazy: () => import("./pages/collection-form.tsx") },
    { path: "collections/:collection/new-item", lazy: () => import("./pages/item-form.tsx") },
    { path: "collections/:collection/items/:item/edit", lazy: () => import("./pages/item-form.tsx") },
  ];
}
