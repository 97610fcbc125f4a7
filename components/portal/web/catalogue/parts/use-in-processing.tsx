import { Anchor, Modal, Stack, Text } from "@mantine/core";
import { Awaited } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { processesQuery, useProcessing } from "../../processing/api/processing.ts";

interface UseInProcessingProps {
  /** Address of the STAC item. */
  readonly href: string;
  /** The area that is looked at: west,south,east,north. */
  readonly bbox?: string;
  readonly onClose: () => void;
}

/** Chooses the process whose form gets the item. */
export function UseInProcessing({ href, bbox, onClose }: UseInProcessingProps) {
  const processes = useQuery(processesQuery(useProcessing()));
  return (
    <Modal opened onClose={onClose} title="Use in processing" closeButtonProps={{ "aria-label": "Close" }}>
      <Awaited query={processes} what="Loading processes">
        {(found) => (
          <Stack gap="sm">
            {found.length === 0 && <Text c="dimmed">No process is deployed yet.</Text>}
            {found.map(({ id, title, description }) => (
              <div key={id}>
                <Anchor
                  component={Link}
                  fw={600}
                  to={`/processing/processes/${encodeURIComponent(id)}/run?${new URLSearchParams({ scene: href, ...(bbox !== undefined && { bbox }) })}`}
                >
                  {title ?? id}
                </Anchor>
                {description !== undefined && (
                  <Text size="sm" c="dimmed" lineClamp={2}>
                    {description}
                  </Text>
                )}
              </div>
            ))}
          </Stack>
        )}
      </Awaited>
    </Modal>
  );
}
