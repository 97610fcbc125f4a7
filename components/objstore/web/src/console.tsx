import { Shell, SignedIn, useSignOut } from "@swath/ui";
import { Database, HardDrive, IdCard, KeyRound, Users } from "lucide-react";

import type { Session } from "./session.ts";
import { UploadPanel } from "./uploads/upload-panel.tsx";
import { UploadsProvider } from "./uploads/uploads-context.tsx";

const LINKS = [
  { to: "/", label: "Buckets", icon: Database },
  { to: "/keys", label: "Access keys", icon: KeyRound },
  { to: "/users", label: "Users", icon: Users, isForRoot: true },
  { to: "/roles", label: "Roles", icon: IdCard, isForRoot: true },
  { to: "/server", label: "Storage", icon: HardDrive },
];

/** The console of somebody who is logged in. */
export function Console() {
  const signOut = useSignOut();
  return (
    <SignedIn<Session>>
      {({ user, isRoot }) => (
        <UploadsProvider>
          <Shell
            title="Object storage"
            links={LINKS.filter(({ isForRoot }) => isRoot || !isForRoot)}
            user={{ name: user, about: isRoot ? "root user" : "user", onSignOut: () => void signOut() }}
          />
          <UploadPanel />
        </UploadsProvider>
      )}
    </SignedIn>
  );
}
