import { ActionIcon, Menu, useMantineColorScheme } from "@mantine/core";
import { Monitor, Moon, Sun } from "lucide-react";

const CHOICES = [
  { scheme: "light", label: "Light", Icon: Sun },
  { scheme: "dark", label: "Dark", Icon: Moon },
  { scheme: "auto", label: "As the system", Icon: Monitor },
] as const;

/** Light, dark, or what the system says. */
export function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { Icon } = CHOICES.find(({ scheme }) => scheme === colorScheme) ?? CHOICES[2];
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" c="inherit" size="lg" aria-label="Light or dark">
          <Icon size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {CHOICES.map(({ scheme, label, Icon: Own }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Own size={16} aria-hidden />}
            onClick={() => setColorScheme(scheme)}
            aria-current={scheme === colorScheme}
            fw={scheme === colorScheme ? 600 : 400}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
