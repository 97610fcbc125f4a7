import { realmPath } from "@swath/manifest/realm-paths";
import { Button, Menu } from "@mantine/core";
import { notifyDone, notifyFailed } from "@swath/ui";
import { Copy } from "lucide-react";

import { usePortal } from "../../src/session/portal.ts";
import { toCopiedRequests } from "../model/copy-job.ts";

interface CopyJobProps {
  readonly process: string;
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
}

/** The execution as other programs send it, to the clipboard. */
export function CopyJob({ process, inputs }: CopyJobProps) {
  const { user, config } = usePortal();
  if (inputs === undefined || config.ades_url === undefined) {
    return null;
  }
  const tokenUrl =
    config.identity_url === undefined
      ? undefined
      : `${config.identity_url}${realmPath(config.realm)}/protocol/openid-connect/token`;
  const requests = toCopiedRequests({
    service: config.ades_url,
    username: user.username,
    process,
    inputs,
    ...(tokenUrl !== undefined && { tokenUrl }),
  });
  const copy = async (label: string, text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      notifyDone(`Copied for ${label}.`);
    } catch (error) {
      notifyFailed("Not copied", error);
    }
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button variant="default" leftSection={<Copy size={16} aria-hidden />}>
          Copy as
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {requests.map(({ label, text }) => (
          <Menu.Item key={label} onClick={() => void copy(label, text)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
