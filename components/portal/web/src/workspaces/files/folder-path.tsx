import { Anchor, Breadcrumbs, Text } from "@mantine/core";

interface FolderPathProps {
  /** Name of the bucket. */
  readonly root: string;
  /** `scenes/2026/` */
  readonly prefix: string;
  readonly onOpen: (prefix: string) => void;
}

/** Where in the files one is, each part a way back. */
export function FolderPath({ root, prefix, onOpen }: FolderPathProps) {
  const parts = prefix.split("/").slice(0, -1);
  const steps = [root, ...parts].map((label, index) => ({
    label,
    prefix: index === 0 ? "" : `${parts.slice(0, index).join("/")}/`,
  }));
  return (
    <nav aria-label="Folder">
      <Breadcrumbs>
        {steps.map((step, index) =>
          index === steps.length - 1 ? (
            <Text key={step.prefix} fw={600} aria-current="location" style={{ overflowWrap: "anywhere" }}>
              {step.label}
            </Text>
          ) : (
            <Anchor key={step.prefix} component="button" type="button" onClick={() => onOpen(step.prefix)}>
              {step.label}
            </Anchor>
          ),
        )}
      </Breadcrumbs>
    </nav>
  );
}
