import { Awaited, Shell, requestJson } from "@swath/ui";
import { useQueryClient } from "@tanstack/react-query";
import { Database } from "lucide-react";
import { Navigate, useLocation } from "react-router";

import { SIGN_IN, useSession } from "./session.ts";

const LINKS = [{ to: "/", label: "Buckets", icon: Database }];

/** The console of somebody who is signed in; others are sent to the sign-in page and come back here. */
export function Console() {
  const session = useSession();
  const client = useQueryClient();
  const { pathname, search } = useLocation();
  if (session.data === null) {
    return <Navigate to={`${SIGN_IN}?to=${encodeURIComponent(pathname + search)}`} replace />;
  }
  const signOut = async () => {
    await requestJson("/api/session", { method: "DELETE" });
    client.clear();
    client.setQueryData(["session"], null);
  };
  return (
    <Awaited query={session} what="Looking who is signed in">
      {(known) =>
        known && (
          <Shell
            title="Object storage"
            links={LINKS}
            user={{
              name: known.user,
              about: known.isRoot ? "root user" : "user",
              onSignOut: () => void signOut(),
            }}
          />
        )
      }
    </Awaited>
  );
}
