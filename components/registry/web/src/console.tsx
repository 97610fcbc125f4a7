import { Shell, SignedIn, useSignOut } from "@swath/ui";
import { Bot, Boxes, Globe, KeyRound, RefreshCw, ScrollText, ShieldAlert } from "lucide-react";

import type { Session } from "./session.ts";

const LINKS = [
  { to: "/", label: "Projects", icon: Boxes },
  { to: "/secret", label: "Command lines", icon: KeyRound },
  { to: "/robots", label: "Robots", icon: Bot, isForAdmin: true },
  { to: "/registries", label: "Other registries", icon: Globe, isForAdmin: true },
  { to: "/replication", label: "Replication", icon: RefreshCw, isForAdmin: true },
  { to: "/scanners", label: "Scanners", icon: ShieldAlert, isForAdmin: true },
  { to: "/audit", label: "Audit log", icon: ScrollText, isForAdmin: true },
];

/** The console of somebody who is logged in. */
export function Console() {
  const signOut = useSignOut();
  return (
    <SignedIn<Session>>
      {({ user, isAdmin }) => (
        <Shell
          title="Image registry"
          links={LINKS.filter(({ isForAdmin }) => isAdmin || !isForAdmin)}
          user={{ name: user, about: isAdmin ? "administrator" : "user", onSignOut: () => void signOut() }}
        />
      )}
    </SignedIn>
  );
}
