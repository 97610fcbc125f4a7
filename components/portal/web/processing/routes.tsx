import { loadPage } from "@swath/ui";
import { type RouteObject, redirect } from "react-router";

/** The addresses below `/processing`. */
export function processingRoutes(): RouteObject[] {
  return [
    // By a loader: an element would take the open page away before the next one has come.
    { index: true, loader: () => redirect("/processing/processes") },
    { path: "processes", lazy: () => loadPage(() => import("./pages/process-list.tsx")) },
    { path: "deploy", lazy: () => loadPage(() => import("./pages/deploy.tsx")) },
    { path: "processes/:id", lazy: () => loadPage(() => import("./pages/process-page.tsx")) },
    { path: "processes/:id/run", lazy: () => loadPage(() => import("./pages/run.tsx")) },
    { path: "jobs", lazy: () => loadPage(() => import("./pages/job-list.tsx")) },
    { path: "jobs/:id", lazy: () => loadPage(() => import("./pages/job-page.tsx")) },
  ];
}
