import { SIGN_IN, loadWithRetry, startApp } from "@swath/ui";

import { Console } from "./console.tsx";
import { SignIn } from "./sign-in.tsx";

startApp({
  routes: [
    { path: SIGN_IN, element: <SignIn /> },
    {
      path: "/",
      element: <Console />,
      children: [
        { index: true, lazy: () => loadWithRetry(() => import("./projects/project-list.tsx")) },
        { path: "secret", lazy: () => loadWithRetry(() => import("./access/secret-page.tsx")) },
        { path: "audit", lazy: () => loadWithRetry(() => import("./system/audit-page.tsx")) },
        { path: "registries", lazy: () => loadWithRetry(() => import("./remotes/registries-page.tsx")) },
        { path: "replication", lazy: () => loadWithRetry(() => import("./remotes/replication-page.tsx")) },
        { path: "scanners", lazy: () => loadWithRetry(() => import("./remotes/scanners-page.tsx")) },
        { path: "robots", lazy: () => loadWithRetry(() => import("./access/system-robots.tsx")) },
        {
          path: "projects/:project/repository",
          lazy: () => loadWithRetry(() => import("./repositories/repository-page.tsx")),
        },
        {
          path: "projects/:project/artifact",
          lazy: () => loadWithRetry(() => import("./artifacts/artifact-page.tsx")),
        },
        {
          path: "projects/:project",
          lazy: () => loadWithRetry(() => import("./projects/project-page.tsx")),
          children: [
            { index: true, lazy: () => loadWithRetry(() => import("./repositories/repository-list.tsx")) },
            { path: "members", lazy: () => loadWithRetry(() => import("./access/members-page.tsx")) },
            { path: "robots", lazy: () => loadWithRetry(() => import("./access/robots-page.tsx")) },
            { path: "rules", lazy: () => loadWithRetry(() => import("./rules/rules-page.tsx")) },
            { path: "audit", lazy: () => loadWithRetry(() => import("./projects/project-audit.tsx")) },
            { path: "settings", lazy: () => loadWithRetry(() => import("./projects/project-settings.tsx")) },
          ],
        },
      ],
    },
  ],
  onSignedOut: (client) => client.setQueryData(["session"], null),
});
