import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { Check, Copy } from "lucide-react";

interface CopyProps {
  readonly value: string;
  /** What is copied: "Copy the link". */
  readonly label: string;
  /** A button with its label instead of an icon. */
  readonly labelled?: boolean;
}

/** Puts a text on the clipboard and says so. */
export function CopyButton({ value, label, labelled = false }: CopyProps) {
  const { copied, copy } = useClipboard({ timeout: 2000 });
  const icon = copied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />;
  const color = copied ? "green" : undefined;
  return labelled ? (
    <Button
      variant="default"
      leftSection={icon}
      onClick={() => copy(value)}
      aria-live="polite"
      style={{ flexShrink: 0 }}
    >
      {copied ? "Copied" : label}
    </Button>
  ) : (
    <Tooltip label={copied ? "Copied" : label}>
      <ActionIcon
        variant="subtle"
        color={color ?? "gray"}
        c={copied ? undefined : "dimmed"}
        onClick={() => copy(value)}
        aria-label={copied ? "Copied" : label}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
