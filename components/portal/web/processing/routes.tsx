import { Navigate, type RouteObject } from "react-router";

/** The addresses below `/processing`. */
export function processingRoutes(): RouteObject[] {
  return [
    { index: true, element: <Navigate to="processes" replace /> },
    { path: "processes", lazy: () => import("./pages/process-list.tsx") },
    { path: "deploy", lazy: () => import("./pages/deploy.tsx") },
    { path: "processes/:id", lazy: () => import("./pages/process-page.tsx") },
    { path: "processes/:id/run", lazy: () => import("./pages/run.tsx") },
    { path: "jobs", lazy: () => import("./pages/job-list.tsx") },
    { path: "jobs/:id", lazy: () => import("./pages/job-page.tsx") },
  ];
}
