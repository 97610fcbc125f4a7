import { Checkbox, PasswordInput, ScrollArea, Select, Stack, TextInput, Textarea } from "@mantine/core";
import type { ReactNode } from "react";

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export const isField = (node: Element): node is Control => node.matches("input, select, textarea");

/** More choices than fit are searched. */
const SEARCHED = 8;

/** The text of the label that names a control, and that of the hint below it. */
function namesOf(control: Element) {
  const context = control.closest("form") ?? control.ownerDocument;
  const read = (selector: string) =>
    context.querySelector(selector)?.textContent?.replaceAll(/\s+/g, " ").trim() ?? undefined;
  const hint = control.getAttribute("aria-describedby");
  return {
    label: read(`label[for="${CSS.escape(control.id)}"]`),
    ...(hint !== null && { description: read(`#${CSS.escape(hint)}`) }),
  };
}

/** One control with its label and hint. */
export function Field({ control }: { readonly control: Control }): ReactNode {
  const names = namesOf(control);
  const { name, required } = control;
  if (control instanceof HTMLSelectElement) {
    return <Choice control={control} />;
  }
  if (control instanceof HTMLTextAreaElement) {
    return (
      <Textarea
        {...names}
        name={name}
        defaultValue={control.value}
        required={required}
        autosize
        minRows={2}
        maxRows={10}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      />
    );
  }
  const common = { ...names, name, required, withAsterisk: required, autoComplete: control.autocomplete };
  switch (control.type) {
    case "hidden":
      return null;
    case "checkbox":
      return <Checkbox {...names} name={name} value={control.value} defaultChecked={control.defaultChecked} />;
    case "password":
      return <PasswordInput {...common} visibilityToggleButtonProps={{ "aria-label": "Show what is typed" }} />;
    default:
      return <TextInput {...common} type={control.type} defaultValue={control.defaultValue} />;
  }
}

function Choice({ control }: { readonly control: HTMLSelectElement }) {
  const read = (option: Element) => ({
    value: (option as HTMLOptionElement).value,
    label: option.textContent?.replaceAll(/\s+/g, " ").trim() ?? "",
  });
  const options = [...control.children];
  const empty = options.find((option) => option instanceof HTMLOptionElement && option.value === "");
  const data = options
    .filter((option) => option !== empty)
    .map((option) =>
      option instanceof HTMLOptGroupElement
        ? { group: option.label, items: [...option.children].map(read) }
        : read(option),
    );
  const count = control.querySelectorAll("option").length;
  const chosen = [...control.options].find(({ defaultSelected }) => defaultSelected)?.value;
  const first = empty === undefined ? control.options[0]?.value : undefined;
  return (
    <Select
      {...namesOf(control)}
      name={control.name}
      data={data}
      defaultValue={(chosen === "" ? undefined : chosen) ?? first ?? null}
      placeholder={empty?.textContent ?? undefined}
      allowDeselect={false}
      clearable={empty !== undefined && !control.required}
      searchable={count > SEARCHED}
      nothingFoundMessage="Nothing of that name"
    />
  );
}

/** Check boxes of one name. */
export function FieldSet({ element }: { readonly element: Element }) {
  const boxes = [...element.querySelectorAll<HTMLInputElement>("input")];
  const [first] = boxes;
  return (
    <Checkbox.Group
      label={element.querySelector("legend")?.textContent?.trim()}
      description={element.querySelector(".hint")?.textContent?.trim()}
      defaultValue={boxes.filter(({ defaultChecked }) => defaultChecked).map(({ value }) => value)}
    >
      <ScrollArea.Autosize mah={288} mt="xs" viewportProps={{ tabIndex: 0 }}>
        <Stack gap="xs" p={4}>
          {boxes.map((box) => (
            <Checkbox key={box.id} name={first?.name ?? ""} value={box.value} label={namesOf(box).label} />
          ))}
        </Stack>
      </ScrollArea.Autosize>
    </Checkbox.Group>
  );
}
