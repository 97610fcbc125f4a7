import { Tabs } from "@mantine/core";
import { Boxes, ListChecks } from "lucide-react";
import { useNavigate } from "react-router";

/** The two lists of processing, one beside the other. */
export function Sections({ current }: { readonly current: "processes" | "jobs" }) {
  const navigate = useNavigate();
  return (
    <Tabs value={current} onChange={(value) => void navigate(`/processing/${value}`)}>
      <Tabs.List aria-label="Processing">
        <Tabs.Tab value="processes" leftSection={<Boxes size={16} aria-hidden />}>
          Processes
        </Tabs.Tab>
        <Tabs.Tab value="jobs" leftSection={<ListChecks size={16} aria-hidden />}>
          Jobs
        </Tabs.Tab>
      </Tabs.List>
    </Tabs>
  );
}
