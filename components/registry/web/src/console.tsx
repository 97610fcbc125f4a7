import { Awaited, Shell, requestJson } from "@swath/ui";
import { useQueryClient } from "@tanstack/react-query";
import { Bot, Boxes, Globe, KeyRound, RefreshCw, ScrollText, ShieldAlert } from "lucide-react";
import { Navigate, useLocation } from "react-router";

import { SIGN_IN, useSession } from "./session.ts";

const LINKS = [
  { to: "/", label: "Projects", icon: Boxes },
  { to: "/secret", label: "Command lines", icon: KeyRound },
  { to: "/robots", label: "Robots", icon: Bot, isForAdmin: true },
  { to: "/registries", label: "Other registries", icon: Globe, isForAdmin: true },
  { to: "/replication", label: "Replication", icon: RefreshCw, isForAdmin: true },
  { to: "/scanners", label: "Scanners", icon: ShieldAlert, isForAdmin: true },
  { to: "/audit", label: "Audit log", icon: ScrollText, isForAdmin: true },
];

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
    // Said to whoever shows the session first: what is cleared loses its watchers, and the page would stay.
    client.setQueryData(["session"], null);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  };
  return (
    <Awaited query={session} what="Looking who is signed in">
      {(known) =>
        known && (
          <Shell
            title="Image registry"
            links={LINKS.filter(({ isForAdmin }) => known.isAdmin || !isForAdmin)}
            user={{
              name: known.user,
              about: known.isAdmin ? "administrator" : "user",
              onSignOut: () => void signOut(),
            }}
          />
        )
      }
    </Awaited>
  );
}
