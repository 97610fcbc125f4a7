import { Group, Kbd, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { Part, lazyPart } from "@swath/ui";
import { Search } from "lucide-react";

import classes from "./search.module.css";

const SearchDialog = lazyPart(async () => ({ default: (await import("./search-dialog.tsx")).SearchDialog }));

/** The search of everything: a button in the header, and Ctrl K anywhere. */
export function SearchEverywhere() {
  const [opened, { open, close }] = useDisclosure(false);
  // In fields too: whoever types may look something up.
  useHotkeys([["mod+K", open]], [], true);
  return (
    <>
      <UnstyledButton
        className={classes["button"] ?? ""}
        onClick={open}
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K"
      >
        <Group gap="xs" wrap="nowrap">
          <Search size={16} aria-hidden />
          <Text span size="sm" visibleFrom="sm">
            Search
          </Text>
          <VisuallyHidden hiddenFrom="sm">Search</VisuallyHidden>
          <Kbd size="xs" visibleFrom="sm">
            Ctrl K
          </Kbd>
        </Group>
      </UnstyledButton>
      {opened && (
        <Part what="the search">
          <SearchDialog onClose={close} />
        </Part>
      )}
    </>
  );
}
