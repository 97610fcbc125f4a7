import { RouteError, loadPage } from "@swath/ui";
import { type RouteObject, redirect } from "react-router";

import { catalogueRoutes } from "../catalogue/routes.tsx";
import { processingRoutes } from "../processing/routes.tsx";
import { Home } from "./home/home.tsx";
import { Layout } from "./layout.tsx";
import { NotFound } from "./not-found.tsx";

/** Every address of the portal. What the home page does not need is loaded when somebody goes there. */
export function createRoutes(): RouteObject[] {
  return [
    { path: "/logged-in", lazy: () => loadPage(() => import("./session/logged-in.tsx")) },
    { path: "/login-failed", lazy: () => loadPage(() => import("./session/login-failed.tsx")) },
    {
      path: "/",
      element: <Layout />,
      // A page that breaks leaves the frame as it is.
      children: [
        {
          errorElement: <RouteError />,
          children: [
            { index: true, element: <Home /> },
            {
              path: "workspaces",
              children: [
                { index: true, lazy: () => loadPage(() => import("./workspaces/workspace-list.tsx")) },
                { path: "new", lazy: () => loadPage(() => import("./workspaces/new-workspace.tsx")) },
                {
                  path: ":name",
                  loader: ({ params }) => redirect(`/workspaces/${encodeURIComponent(params["name"] ?? "")}/files`),
                },
                { path: ":name/:part", lazy: () => loadPage(() => import("./workspaces/workspace-page.tsx")) },
              ],
            },
            { path: "catalogue", children: catalogueRoutes() },
            { path: "explore", lazy: () => loadPage(() => import("./explore/explore-page.tsx")) },
            { path: "processing", children: processingRoutes() },
            {
              path: "admin",
              lazy: () => loadPage(() => import("./admin/admin-gate.tsx")),
              children: [
                { index: true, loader: () => redirect("/admin/pods") },
                { path: "pods", lazy: () => loadPage(() => import("./admin/pods.tsx")) },
                { path: "pods/:namespace/:pod", lazy: () => loadPage(() => import("./admin/pod-log.tsx")) },
                { path: "registration", lazy: () => loadPage(() => import("./admin/registration.tsx")) },
                { path: "use", lazy: () => loadPage(() => import("./admin/use.tsx")) },
                { path: "configuration", lazy: () => loadPage(() => import("./admin/configuration.tsx")) },
                { path: "users", lazy: () => loadPage(() => import("./admin/users.tsx")) },
                { path: "audit", lazy: () => loadPage(() => import("./admin/audit.tsx")) },
              ],
            },
            { path: "*", element: <NotFound /> },
          ],
        },
      ],
    },
  ];
}
