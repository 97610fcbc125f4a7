import { Avatar, Menu, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { LogOut } from "lucide-react";
import type { ReactNode } from "react";

export interface ShellUser {
  readonly name: string;
  /** Below the name: "root user", an e-mail address. */
  readonly about?: string;
  readonly onSignOut: () => void;
  /** Further `Menu.Item`s. */
  readonly children?: ReactNode;
}

/** Who is logged in, and what they may do about it. */
export function UserMenu({ name, about, onSignOut, children }: ShellUser) {
  return (
    <Menu position="bottom-end" width={220} withinPortal>
      <Menu.Target>
        <UnstyledButton>
          <Avatar name={name} color="teal" radius="xl" size={34} aria-hidden />
          <VisuallyHidden>Logged in as {name}</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {name}
          </Text>
          {about !== undefined && (
            <Text size="xs" c="dimmed" truncate>
              {about}
            </Text>
          )}
        </Menu.Label>
        <Menu.Divider />
        {children}
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={onSignOut}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
