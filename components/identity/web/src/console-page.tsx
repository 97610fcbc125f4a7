import { Anchor, Breadcrumbs, Button, Menu, Select } from "@mantine/core";
import { Awaited, ErrorNote, Page, Shell, notifyDone } from "@swath/ui";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  AppWindow,
  IdCard,
  ListChecks,
  type LucideIcon,
  MonitorCheck,
  Plus,
  Settings,
  UserRound,
  Users,
} from "lucide-react";
import { type ReactNode, use, useCallback, useEffect, useMemo, useState } from "react";
import { Link, useLocation, useNavigate } from "react-router";

import { Content } from "./content.tsx";
import { ContentDialog } from "./content-dialog.tsx";
import { type FetchedPage, fetchPage, withoutDone } from "./fetch-page.ts";
import { FirstPageContext } from "./first-page.ts";
import { type ConsoleDocument, readPageDocument } from "./page-document.ts";
import { type Surface, SurfaceContext } from "./surface.ts";

const ICONS: Readonly<Record<string, LucideIcon>> = {
  users: Users,
  clients: AppWindow,
  roles: IdCard,
  sessions: MonitorCheck,
  events: ListChecks,
  settings: Settings,
};

/** The page at the address, in the frame of every console. */
export function ConsolePage() {
  const { pathname, search } = useLocation();
  const address = withoutDone(pathname + search);
  const first = use(FirstPageContext);
  const navigate = useNavigate();
  const client = useQueryClient();
  const [dialog, setDialog] = useState<string>();
  const page = useQuery({
    queryKey: ["page", address],
    queryFn: () => fetchPage(address),
    ...(address === first.address && { initialData: { html: first.html, address, ok: true } }),
    placeholderData: keepPreviousData,
    // A form that somebody fills in is not replaced behind their back.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: 0,
  });
  const show = useCallback(
    (response: FetchedPage) => {
      if (!response.ok) {
        client.setQueryData(["page", address], { ...response, address });
        return;
      }
      const found = readPageDocument(response.html);
      if (found.kind === "console" && found.good !== undefined) {
        notifyDone(found.good);
      }
      const next = withoutDone(response.address);
      client.setQueryData(["page", next], response);
      void client.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] === "page" && queryKey[1] !== next,
        refetchType: "none",
      });
      if (next !== address) {
        void navigate(next);
      }
    },
    [client, address, navigate],
  );
  const surface = useMemo<Surface>(() => ({ show, openDialog: setDialog }), [show]);
  // Some addresses lead elsewhere.
  const led = page.data === undefined || page.isPlaceholderData ? address : withoutDone(page.data.address);
  useEffect(() => {
    if (led !== address) {
      void navigate(led, { replace: true });
    }
  }, [led, address, navigate]);
  return (
    <SurfaceContext value={surface}>
      <Awaited query={page} what="Loading the page">
        {({ html }) => <Shown html={html} />}
      </Awaited>
      <ContentDialog
        address={dialog}
        onClose={(changed) => {
          setDialog(undefined);
          if (changed) {
            void client.invalidateQueries({ queryKey: ["page", address] });
          }
        }}
      />
    </SurfaceContext>
  );
}

function Shown({ html }: { readonly html: string }) {
  const found = useMemo(() => readPageDocument(html), [html]);
  const [known, setKnown] = useState<ConsoleDocument>();
  if (found.kind === "console" && found !== known) {
    setKnown(found);
  }
  const frame = found.kind === "console" ? found : known;
  if (found.kind === "error") {
    return (
      <Frame page={frame}>
        <Page title={found.title}>
          <ErrorNote error={found.message} title={found.title} />
          <div>
            <Button variant="default" component={Link} to="/console">
              To the users
            </Button>
          </div>
        </Page>
      </Frame>
    );
  }
  return (
    <Frame page={frame}>
      <Page
        title={found.title}
        name={`${found.title} · ${found.realm}`}
        above={
          found.above.length > 0 && (
            <Breadcrumbs separator="›">
              {found.above.map(({ to, label }) => (
                <Anchor key={to} component={Link} to={to} size="sm">
                  {label}
                </Anchor>
              ))}
            </Breadcrumbs>
          )
        }
      >
        {found.bad !== undefined && <ErrorNote error={found.bad} title="Not done" />}
        <Content key={html} nodes={found.content} isPage />
      </Page>
    </Frame>
  );
}

function Frame({ page, children }: { readonly page: ConsoleDocument | undefined; readonly children: ReactNode }) {
  const navigate = useNavigate();
  if (page === undefined) {
    return (
      <Shell title="Identity" links={[]}>
        {children}
      </Shell>
    );
  }
  return (
    <Shell
      title="Identity"
      links={page.links.map((link) => {
        const icon = ICONS[link.to.split("/").at(-1) ?? ""];
        return icon === undefined ? link : { ...link, icon };
      })}
      header={
        <Select
          aria-label="Realm"
          size="xs"
          w={{ base: 104, xs: 160 }}
          data={page.realms}
          value={page.realm}
          allowDeselect={false}
          searchable={page.realms.length > 8}
          onChange={(realm) => realm !== null && void navigate(`/console/realms/${encodeURIComponent(realm)}/users`)}
        />
      }
      user={{
        name: page.user,
        about: "administrator",
        onSignOut: () => window.location.assign("/realms/master/protocol/openid-connect/logout"),
        children: (
          <>
            <Menu.Item
              leftSection={<UserRound size={16} aria-hidden />}
              onClick={() => window.location.assign("/realms/master/account")}
            >
              Account
            </Menu.Item>
            <Menu.Item leftSection={<Plus size={16} aria-hidden />} onClick={() => void navigate("/console/new-realm")}>
              New realm
            </Menu.Item>
          </>
        ),
      }}
    >
      {children}
    </Shell>
  );
}
