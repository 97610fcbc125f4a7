import { startApp } from "@swath/ui";

import { createRoutes } from "./routes.tsx";
import { SESSION_KEY } from "./session/session.ts";

startApp({
  routes: createRoutes(),
  // A service refused the login: ask whether there still is one, which renews it where it can be.
  onSignedOut: (client) => void client.invalidateQueries({ queryKey: SESSION_KEY }),
});
