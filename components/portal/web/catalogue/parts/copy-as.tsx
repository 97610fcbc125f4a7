import { Button, Code, Menu, Modal, ScrollArea, Stack, Text } from "@mantine/core";
import { CopyButton } from "@swath/ui";
import { Copy } from "lucide-react";
import { useState } from "react";

import { type CopyText, listCopyTexts } from "../model/copy-search.ts";

interface CopyAsProps {
  /** Public address of the catalogue. */
  readonly root: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The search as a program would send it. */
export function CopyAs({ root, body }: CopyAsProps) {
  const [shown, setShown] = useState<CopyText>();
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<Copy size={16} aria-hidden />}>
            Copy as
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {listCopyTexts(root, body).map((text) => (
            <Menu.Item key={text.title} onClick={() => setShown(text)}>
              {text.title}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={shown?.title}
        size="lg"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {shown !== undefined && (
          <Stack>
            <ScrollArea.Autosize mah={360} tabIndex={0} role="region" aria-label={shown.title}>
              <Code block>{shown.text}</Code>
            </ScrollArea.Autosize>
            {shown.text.includes("TOKEN") && (
              <Text size="sm" c="dimmed">
                TOKEN is an access token; public collections need none.
              </Text>
            )}
            <CopyButton value={shown.text} label="Copy" labelled />
          </Stack>
        )}
      </Modal>
    </>
  );
}
