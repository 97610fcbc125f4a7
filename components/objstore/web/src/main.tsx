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
        { index: true, lazy: () => loadWithRetry(() => import("./buckets/bucket-list.tsx")) },
        { path: "buckets/:bucket/object", lazy: () => loadWithRetry(() => import("./objects/object-page.tsx")) },
        { path: "keys", lazy: () => loadWithRetry(() => import("./access/keys-page.tsx")) },
        { path: "users", lazy: () => loadWithRetry(() => import("./access/users-page.tsx")) },
        { path: "roles", lazy: () => loadWithRetry(() => import("./access/roles-page.tsx")) },
        { path: "server", lazy: () => loadWithRetry(() => import("./server/server-page.tsx")) },
        {
          path: "buckets/:bucket",
          lazy: () => loadWithRetry(() => import("./buckets/bucket-page.tsx")),
          children: [
            { index: true, lazy: () => loadWithRetry(() => import("./objects/folder-page.tsx")) },
            { path: "policy", lazy: () => loadWithRetry(() => import("./policy/policy-page.tsx")) },
            { path: "lifecycle", lazy: () => loadWithRetry(() => import("./lifecycle/lifecycle-page.tsx")) },
            { path: "settings", lazy: () => loadWithRetry(() => import("./buckets/bucket-settings.tsx")) },
          ],
        },
      ],
    },
  ],
  onSignedOut: (client) => client.setQueryData(["session"], null),
});
