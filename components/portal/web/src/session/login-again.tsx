import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { LogIn } from "lucide-react";

import type { User } from "./session.ts";

/** Over a page whose login ended: the login is done in a window of its own, so that nothing on this page is lost. */
export function ReauthDialog({ user }: { readonly user: User }) {
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="Your login has ended"
    >
      <Stack>
        <Text size="sm">
          Log in again as {user.username}, in a window of its own; then go on here. What you typed on this page is kept.
        </Text>
        <Group justify="flex-end">
          <Button component="a" href="/" variant="default">
            Leave this page
          </Button>
          <Button
            component="a"
            href="/auth/login?return=/logged-in"
            target="_blank"
            rel="opener"
            leftSection={<LogIn size={16} aria-hidden />}
            data-autofocus
          >
            Log in again
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
