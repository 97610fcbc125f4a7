import { Awaited, Shell, requestJson } from "@swath/ui";
import { useQueryClient } from "@tanstack/react-query";
import { Database, HardDrive, IdCard, KeyRound, Users } from "lucide-react";
import { Navigate, useLocation } from "react-router";

import { SIGN_IN, useSession } from "./session.ts";
import { UploadPanel } from "./uploads/upload-panel.tsx";
import { UploadsProvider } from "./uploads/uploads-context.tsx";

const LINKS = [
  { to: "/", label: "Buckets", icon: Database },
  { to: "/keys", label: "Access keys", icon: KeyRound },
  { to: "/users", label: "Users", icon: Users, isForRoot: true },
  { to: "/roles", label: "Roles", icon: IdCard, isForRoot: true },
  { to: "/server", label: "Storage", icon: HardDrive },
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
          <UploadsProvider>
            <Shell
              title="Object storage"
              links={LINKS.filter(({ isForRoot }) => known.isRoot || !isForRoot)}
              user={{
                name: known.user,
                about: known.isRoot ? "root user" : "user",
                onSignOut: () => void signOut(),
              }}
            />
            <UploadPanel />
          </UploadsProvider>
        )
      }
    </Awaited>
  );
}
