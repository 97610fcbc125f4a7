import { Tabs } from "@mantine/core";
import { useNavigate } from "react-router";

/** The parts of the catalogue. */
export function Sections({ current }: { readonly current: "search" | "collections" }) {
  const navigate = useNavigate();
  return (
    <Tabs
      value={current}
      onChange={(value) => void navigate(value === "collections" ? "/catalogue/collections" : "/catalogue")}
    >
      <Tabs.List aria-label="Catalogue">
        <Tabs.Tab value="search">Search</Tabs.Tab>
        <Tabs.Tab value="collections">Collections</Tabs.Tab>
      </Tabs.List>
    </Tabs>
  );
}
