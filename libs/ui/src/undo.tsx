import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";

import { notifyDone, notifyFailed } from "./notify.ts";
import { request } from "./request.ts";

interface Deletion {
  /** What goes: "The tag 1.2". */
  readonly what: string;
  /** Address that is sent a DELETE when the time is over. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when it was called off, and when it is done or failed. */
  readonly onSettled: () => void;
}

const SECONDS = 8;

/**
 * Deletes something after some seconds, in which the deletion can be called off. Who leaves the page has decided: what waits is
 * deleted then.
 */
export function scheduleDeletion({ what, url, headers = {}, onSettled }: Deletion): void {
  const id = crypto.randomUUID();
  const end = () => {
    clearTimeout(timer);
    removeEventListener("pagehide", leave);
    notifications.hide(id);
  };
  const run = async () => {
    end();
    try {
      await request(url, { method: "DELETE", headers });
      notifyDone(`${what} is deleted.`);
    } catch (error) {
      notifyFailed(`${what} was not deleted`, error);
    }
    onSettled();
  };
  const leave = () => {
    end();
    // Goes on when the page is gone.
    void fetch(url, { method: "DELETE", headers, keepalive: true });
  };
  const undo = () => {
    end();
    onSettled();
  };
  const timer = setTimeout(() => void run(), SECONDS * 1000);
  addEventListener("pagehide", leave);
  notifications.show({
    id,
    autoClose: false,
    withCloseButton: false,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" role="status">
          {what} is deleted in {SECONDS} seconds.
        </Text>
        <Button size="xs" variant="default" onClick={undo}>
          Undo
        </Button>
      </Group>
    ),
  });
}
