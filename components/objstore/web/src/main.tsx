import { startApp } from "@swath/ui";

import { Console } from "./console.tsx";
import { SIGN_IN } from "./session.ts";
import { SignIn } from "./sign-in.tsx";

startApp({
  routes: [
    { path: SIGN_IN, element: <SignIn /> },
    { path: "/", element: <Console />, children: [{ index: true, lazy: () => import("./buckets/bucket-list.tsx") }] },
  ],
  onSignedOut: (client) => client.setQueryData(["session"], null),
});
