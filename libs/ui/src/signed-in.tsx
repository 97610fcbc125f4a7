import type { ReactNode } from "react";
import { Navigate, useLocation } from "react-router";

import { SIGN_IN, useConsoleSession } from "./console-session.ts";
import { Awaited } from "./states.tsx";

/** What a console shows to somebody who is logged in; others are sent to the sign-in page and come back here. */
export function SignedIn<Session>({ children }: { readonly children: (session: Session) => ReactNode }) {
  const session = useConsoleSession<Session>();
  const { pathname, search } = useLocation();
  if (session.data === null) {
    return <Navigate to={`${SIGN_IN}?to=${encodeURIComponent(pathname + search)}`} replace />;
  }
  return (
    <Awaited query={session} what="Loading session">
      {(known) => known && children(known)}
    </Awaited>
  );
}
