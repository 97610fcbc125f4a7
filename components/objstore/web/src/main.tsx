import { startApp } from "@swath/ui";

import { Console } from "./console.tsx";
import { SIGN_IN } from "./session.ts";
import { SignIn } from "./sign-in.tsx";

startApp({
  routes: [
    { path: SIGN_IN, element: <SignIn /> },
    {
      path: "/",
      element: <Console />,
      children: [
        { index: true, lazy: () => import("./buckets/bucket-list.tsx") },
        { path: "buckets/:bucket/object", lazy: () => import("./objects/object-page.tsx") },
        { path: "keys", lazy: () => import("./access/keys-page.tsx") },
        { path: "users", lazy: () => import("./access/users-page.tsx") },
        { path: "server", lazy: () => import("./server/server-page.tsx") },
        {
          path: "buckets/:bucket",
          lazy: () => import("./buckets/bucket-page.tsx"),
          children: [
            { index: true, lazy: () => import("./objects/folder-page.tsx") },
            { path: "policy", lazy: () => import("./policy/policy-page.tsx") },
            { path: "settings", lazy: () => import("./buckets/bucket-settings.tsx") },
          ],
        },
      ],
    },
  ],
  onSignedOut: (client) => client.setQueryData(["session"], null),
});
