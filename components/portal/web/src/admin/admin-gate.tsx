import { Tabs } from "@mantine/core";
import { Empty, Page } from "@swath/ui";
import { Boxes, ChartColumn, DatabaseZap, Lock, ScrollText, Settings, Users } from "lucide-react";
import { Outlet, useLocation, useNavigate } from "react-router";

import { usePortal } from "../session/portal.ts";

const PARTS = [
  { value: "pods", label: "Pods", icon: Boxes },
  { value: "use", label: "Health and use", icon: ChartColumn },
  { value: "users", label: "Users and clients", icon: Users },
  { value: "audit", label: "Audit trail", icon: ScrollText },
  { value: "registration", label: "Registration", icon: DatabaseZap, service: "registration-api" },
  { value: "configuration", label: "Configuration", icon: Settings },
] as const;

/** The pages of administrators. What they show is refused by the server to everybody else. */
export function Component() {
  const { user, config } = usePortal();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  if (!user.isAdmin) {
    return (
      <Page title="Administration">
        <Empty title="For administrators" icon={Lock}>
          {user.username} is no administrator of this platform. Administrators have the role admin.
        </Empty>
      </Page>
    );
  }
  const part = PARTS.find(({ value }) => pathname.startsWith(`/admin/${value}`))?.value ?? "pods";
  return (
    <Page title="Administration">
      <Tabs value={part} onChange={(next) => void navigate(`/admin/${next}`)}>
        <Tabs.List aria-label="Administration">
          {PARTS.filter((each) => !("service" in each) || config.services.includes(each.service)).map(
            ({ value, label, icon: Icon }) => (
              <Tabs.Tab key={value} value={value} leftSection={<Icon size={16} aria-hidden />}>
                {label}
              </Tabs.Tab>
            ),
          )}
        </Tabs.List>
        <Tabs.Panel value={part} pt="md">
          <Outlet />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
