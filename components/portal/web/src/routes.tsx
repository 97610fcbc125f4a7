import { Navigate, type RouteObject } from "react-router";

import { catalogueRoutes } from "../catalogue/routes.tsx";
import { processingRoutes } from "../processing/routes.tsx";
import { Home } from "./home/home.tsx";
import { Layout } from "./layout.tsx";
import { NotFound } from "./not-found.tsx";

/** Every address of the portal. What the home page does not need is loaded when somebody goes there. */
export function createRoutes(): RouteObject[] {
  return [
    { path: "/logged-in", lazy: () => import("./session/logged-in.tsx") },
    { path: "/login-failed", lazy: () => import("./session/login-failed.tsx") },
    {
      path: "/",
      element: <Layout />,
      children: [
        { index: true, element: <Home /> },
        {
          path: "workspaces",
          children: [
            { index: true, lazy: () => import("./workspaces/workspace-list.tsx") },
            { path: "new", lazy: () => import("./workspaces/new-workspace.tsx") },
            { path: ":name", element: <Navigate to="files" replace /> },
            { path: ":name/:part", lazy: () => import("./workspaces/workspace-page.tsx") },
          ],
        },
        { path: "catalogue", children: catalogueRoutes() },
        { path: "explore", lazy: () => import("./explore/explore-page.tsx") },
        { path: "processing", children: processingRoutes() },
        {
          path: "admin",
          lazy: () => import("./admin/admin-gate.tsx"),
          children: [
            { index: true, element: <Navigate to="pods" replace /> },
            { path: "pods", lazy: () => import("./admin/pods.tsx") },
            { path: "pods/:namespace/:pod", lazy: () => import("./admin/pod-log.tsx") },
            { path: "registration", lazy: () => import("./admin/registration.tsx") },
            { path: "configuration", lazy: () => import("./admin/configuration.tsx") },
            { path: "users", lazy: () => import("./admin/users.tsx") },
          ],
        },
        { path: "*", element: <NotFound /> },
      ],
    },
  ];
}
