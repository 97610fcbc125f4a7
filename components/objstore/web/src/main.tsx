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
        { index: true, lazy: () => insist(() => import("./buckets/bucket-list.tsx")) },
        { path: "buckets/:bucket/object", lazy: () => insist(() => import("./objects/object-page.tsx")) },
        { path: "keys", lazy: () => insist(() => import("./access/keys-page.tsx")) },
        { path: "users", lazy: () => insist(() => import("./access/users-page.tsx")) },
        { path: "roles", lazy: () => insist(() => import("./access/roles-page.tsx")) },
        { path: "server", lazy: () => insist(() => import("./server/server-page.tsx")) },
        {
          path: "buckets/:bucket",
          lazy: () => insist(() => import("./buckets/bucket-page.tsx")),
          children: [
            { index: true, lazy: () => insist(() => import("./objects/folder-page.tsx")) },
            { path: "policy", lazy: () => insist(() => import("./policy/policy-page.tsx")) },
            { path: "lifecycle", lazy: () => insist(() => import("./lifecycle/lifecycle-page.tsx")) },
            { path: "settings", lazy: () => insist(() => import("./buckets/bucket-settings.tsx")) },
          ],
        },
      ],
    },
  ],
  onSignedOut: (client) => client.setQueryData(["session"], null),
});
