import { Modal, Stack } from "@mantine/core";
import { Awaited, ErrorNote, notifyDone } from "@swath/ui";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef } from "react";

import { Content } from "./content.tsx";
import { type FetchedPage, fetchPage, withoutDone } from "./fetch-page.ts";
import { readPageDocument } from "./page-document.ts";
import { type Surface, SurfaceContext, useSurface } from "./surface.ts";

interface ContentDialogProps {
  /** Address of the page that the dialog shows; none: it is closed. */
  readonly address: string | undefined;
  /** @param changed whether something was changed in it */
  readonly onClose: (changed: boolean) => void;
}

/** A page as a dialog over another: to make something, to assign something. */
export function ContentDialog({ address, onClose }: ContentDialogProps) {
  const below = useSurface();
  const client = useQueryClient();
  const changed = useRef(false);
  const page = useQuery({
    queryKey: ["dialog", address],
    queryFn: () => fetchPage(address ?? ""),
    enabled: address !== undefined,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    staleTime: 0,
    gcTime: 0,
  });
  const surface = useMemo<Surface>(() => {
    const close = () => {
      onClose(changed.current);
      changed.current = false;
    };
    return {
      openDialog: below.openDialog,
      show: (response: FetchedPage) => {
        const stays = !response.ok || withoutDone(response.address) === address;
        if (!stays) {
          close();
          below.show(response);
          return;
        }
        if (response.ok) {
          changed.current = true;
          const found = readPageDocument(response.html);
          notifyDone((found.kind === "console" ? found.good : undefined) ?? "It is done.");
        }
        client.setQueryData(["dialog", address], response);
      },
    };
  }, [below, client, address, onClose]);
  const found = useMemo(() => (page.data === undefined ? undefined : readPageDocument(page.data.html)), [page.data]);
  return (
    <Modal
      opened={address !== undefined}
      onClose={() => {
        onClose(changed.current);
        changed.current = false;
      }}
      title={found?.title ?? "Loading"}
      size="xl"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <SurfaceContext value={surface}>
        <Awaited query={page}>
          {({ html }) =>
            found === undefined || found.kind === "error" ? (
              <ErrorNote error={found?.message ?? "There is nothing here."} />
            ) : (
              <Stack>
                {found.bad !== undefined && <ErrorNote error={found.bad} title="Not done" />}
                <Content key={html} nodes={found.content} />
              </Stack>
            )
          }
        </Awaited>
      </SurfaceContext>
    </Modal>
  );
}
