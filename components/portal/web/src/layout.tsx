import { realmPath } from "@swath/manifest/realm-paths";
import { Menu } from "@mantine/core";
import { Awaited, BaseMapsContext, Shell, type ShellLink, notifyFailed, requestJson } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Cpu, ExternalLink, FolderOpen, House, Layers, Map as MapIcon, ShieldCheck } from "lucide-react";
import { useMemo } from "react";
import { Outlet } from "react-router";

import { SearchEverywhere } from "./search/search-everywhere.tsx";
import { Landing } from "./session/landing.tsx";
import { type PortalConfig, PortalContext } from "./session/portal.ts";
import { ReauthDialog } from "./session/login-again.tsx";
import { type Session, type User, logOut, useSession } from "./session/session.ts";
import { listBaseMaps } from "./api/base-maps.ts";
import { useLogin } from "./session/use-login.ts";

/** The frame of every page, for who is logged in; everybody else is shown what this is and how to log in. */
export function Layout() {
  const config = useQuery({
    queryKey: ["config"],
    queryFn: () => requestJson<PortalConfig>("/config.json"),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const session = useSession();
  return (
    <Awaited query={config} what="Loading the portal">
      {(known) => (
        <Awaited query={session} what="Loading session">
          {(found) => <Entrance session={found} config={known} />}
        </Awaited>
      )}
    </Awaited>
  );
}

function Entrance({ session, config }: { readonly session: Session; readonly config: PortalConfig }) {
  const { user, hasEnded } = useLogin(session);
  return user === null ? (
    <Landing config={config} isLoggedOut={session.isLoggedOut === true} />
  ) : (
    <>
      <Inside user={user} config={config} />
      {hasEnded && <ReauthDialog user={user} />}
    </>
  );
}

function Inside({ user, config }: { readonly user: User; readonly config: PortalConfig }) {
  const portal = useMemo(() => ({ user, config }), [user, config]);
  const baseMaps = useMemo(() => ({ list: () => listBaseMaps(config) }), [config]);
  const account =
    config.identity_url === undefined ? undefined : `${config.identity_url}${realmPath(config.realm)}/account`;
  return (
    <PortalContext value={portal}>
      <BaseMapsContext value={baseMaps}>
        <Shell
          title={config.platform === "swath" ? "" : config.platform}
          links={linksFor(user, config)}
          header={<SearchEverywhere />}
          user={{
            name: user.name ?? user.username,
            about: user.isAdmin ? `${user.username}, administrator` : (user.email ?? user.username),
            onSignOut: () => void logOut().catch((error: unknown) => notifyFailed("Not logged out", error)),
            children: account !== undefined && (
              <Menu.Item component="a" href={account} leftSection={<ExternalLink size={16} aria-hidden />}>
                Account and password
              </Menu.Item>
            ),
          }}
        >
          <Outlet />
        </Shell>
      </BaseMapsContext>
    </PortalContext>
  );
}

function linksFor({ isAdmin }: User, { services }: PortalConfig): readonly ShellLink[] {
  return [
    { to: "/", label: "Home", icon: House, exact: true },
    ...(services.includes("workspace-api") ? [{ to: "/workspaces", label: "Workspaces", icon: FolderOpen }] : []),
    ...(services.includes("resource-catalogue") ? [{ to: "/catalogue", label: "Catalogue", icon: Layers }] : []),
    ...(services.includes("data-access") ? [{ to: "/explore", label: "Explore", icon: MapIcon }] : []),
    ...(services.includes("ades") ? [{ to: "/processing", label: "Processing", icon: Cpu }] : []),
    ...(isAdmin ? [{ to: "/admin", label: "Administration", icon: ShieldCheck }] : []),
  ];
}
