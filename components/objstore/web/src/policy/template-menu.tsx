import { Button, Menu } from "@mantine/core";
import { ChevronDown } from "lucide-react";

interface TemplateMenuProps<Template> {
  /** What choosing does: "Begin with". */
  readonly label: string;
  readonly templates: readonly Template[];
  readonly onChoose: (template: Template) => void;
}

/** Examples to choose from, for somebody who writes a document. */
export function TemplateMenu<Template extends { readonly label: string }>({
  label: title,
  templates,
  onChoose,
}: TemplateMenuProps<Template>) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="xs" rightSection={<ChevronDown size={14} aria-hidden />}>
          {title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {templates.map((template) => (
          <Menu.Item key={template.label} onClick={() => onChoose(template)}>
            {template.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
