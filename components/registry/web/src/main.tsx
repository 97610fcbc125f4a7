import { SIGN_IN, insist, startApp } from "@swath/ui";

import { Console } from "./console.tsx";
import { SignIn } from "./sign-in.tsx";

startApp({
  routes: [
    { path: SIGN_IN, element: <SignIn /> },
    {
      path: "/",
      element: <Console />,
      children: [
        { index: true, lazy: () => insist(() => import("./projects/project-list.tsx")) },
        { path: "secret", lazy: () => insist(() => import("./access/secret-page.tsx")) },
        { path: "audit", lazy: () => insist(() => import("./system/audit-page.tsx")) },
        { path: "registries", lazy: () => insist(() => import("./remotes/registries-page.tsx")) },
        { path: "replication", lazy: () => insist(() => import("./remotes/replication-page.tsx")) },
        { path: "scanners", lazy: () => insist(() => import("./remotes/scanners-page.tsx")) },
        { path: "robots", lazy: () => insist(() => import("./access/system-robots.tsx")) },
        {
          path: "projects/:project/repository",
          lazy: () => insist(() => import("./repositories/repository-page.tsx")),
        },
        { path: "projects/:project/artifact", lazy: () => insist(() => import("./artifacts/artifact-page.tsx")) },
        {
          path: "projects/:project",
          lazy: () => insist(() => import("./projects/project-page.tsx")),
          children: [
            { index: true, lazy: () => insist(() => import("./repositories/repository-list.tsx")) },
            { path: "members", lazy: () => insist(() => import("./access/members-page.tsx")) },
            { path: "robots", lazy: () => insist(() => import("./access/robots-page.tsx")) },
            { path: "rules", lazy: () => insist(() => import("./rules/rules-page.tsx")) },
            { path: "audit", lazy: () => insist(() => import("./projects/project-audit.tsx")) },
            { path: "settings", lazy: () => insist(() => import("./projects/project-settings.tsx")) },
          ],
        },
      ],
    },
  ],
  onSignedOut: (client) => client.setQueryData(["session"], null),
});
