import { Anchor, Badge, Breadcrumbs, Group, ScrollArea, Tabs } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Awaited, Page, UsageBar } from "@swath/ui";
import { Bot, Package, ScrollText, Settings, ShieldCheck, Users } from "lucide-react";
import { Link, Outlet, useLocation, useNavigate, useParams } from "react-router";

import { toProject } from "../paths.ts";
import { useSession } from "../session.ts";
import { type Project, rightsOf } from "../types.ts";
import { toUsage } from "./project-list.tsx";
import { useProject } from "./use-project.ts";

type Rights = ReturnType<typeof rightsOf>;

const TABS: readonly {
  readonly value: string;
  readonly label: string;
  readonly Icon: typeof Package;
  readonly isFor?: (rights: Rights) => boolean;
}[] = [
  { value: "repositories", label: "Repositories", Icon: Package },
  { value: "members", label: "Members", Icon: Users },
  { value: "robots", label: "Robots", Icon: Bot, isFor: ({ isAdmin }) => isAdmin },
  { value: "rules", label: "Rules", Icon: ShieldCheck, isFor: ({ canMaintain }) => canMaintain },
  { value: "audit", label: "Audit", Icon: ScrollText, isFor: ({ canMaintain }) => canMaintain },
  { value: "settings", label: "Settings", Icon: Settings, isFor: ({ isAdmin }) => isAdmin },
];

/** A project: its repositories, who may use it, and by which rules. */
export function Component() {
  const { project: name = "" } = useParams();
  const project = useProject(name);
  const { data: session } = useSession();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  // On a phone the names of the tabs take the whole line.
  const hasRoom = useMediaQuery("(min-width: 48em)", true);
  const tab = /\/(members|robots|rules|audit|settings)$/.exec(pathname)?.[1] ?? "repositories";
  const about = project.data && (
    <>
      <Group gap="xs">
        <code>{`${session?.host ?? ""}/${name}`}</code>
        {project.data.metadata.public === "true" && <Badge variant="light">public</Badge>}
        {project.data.registry_id !== undefined && <Badge variant="light">cache</Badge>}
      </Group>
      <UsageBar {...toUsage(project.data.quota)} label="Use of this project" />
    </>
  );
  const tabsOf = (data: Project) => TABS.filter(({ isFor }) => isFor?.(rightsOf(data)) ?? true);
  return (
    <Page title={name} above={<Above />} about={about}>
      <Awaited query={project} what="Loading the project">
        {(data) => (
          <Tabs
            value={tab}
            onChange={(value) => void navigate(toProject(name, value === "repositories" ? "" : `/${value}`))}
            keepMounted={false}
          >
            <ScrollArea type="never">
              <Tabs.List aria-label="Parts of the project" style={{ flexWrap: "nowrap" }}>
                {tabsOf(data).map(({ value, label, Icon }) => (
                  <Tabs.Tab key={value} value={value} leftSection={hasRoom && <Icon size={16} aria-hidden />}>
                    {label}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
            </ScrollArea>
            <Tabs.Panel value={tab} pt="md">
              <Outlet context={data} />
            </Tabs.Panel>
          </Tabs>
        )}
      </Awaited>
    </Page>
  );
}

function Above() {
  return (
    <Breadcrumbs>
      <Anchor component={Link} to="/" size="sm">
        Projects
      </Anchor>
    </Breadcrumbs>
  );
}
