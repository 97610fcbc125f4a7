import { Button, type ButtonProps, Group, Stack } from "@mantine/core";
import { ErrorNote, useConfirm } from "@swath/ui";
import { useMutation } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { useNavigate } from "react-router";

import { fetchPage } from "./fetch-page.ts";
import { useSurface } from "./surface.ts";
import { fieldsOf } from "./text-of.ts";

interface ContentFormProps {
  readonly form: HTMLFormElement;
  readonly children: ReactNode;
}

/** A form of the page: asks where a change wants to be asked for, sends it, and shows what comes of it. */
export function ContentForm({ form, children }: ContentFormProps) {
  const navigate = useNavigate();
  const request = useConfirm();
  const { show } = useSurface();
  const action = form.getAttribute("action") ?? "";
  const isSearch = form.getAttribute("method") === "get";
  const question = form.dataset["confirm"];
  const button = form.querySelector("button");
  const label = button?.textContent?.trim() ?? "Save";
  const isDanger = button?.classList.contains("danger") === true;
  const send = useMutation({
    mutationFn: (fields: URLSearchParams) => fetchPage(action, fields),
    onSuccess: show,
  });
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = fieldsOf(event.currentTarget);
    if (isSearch) {
      void navigate(`${action}?${fields.toString()}`);
      return;
    }
    const title = button?.getAttribute("aria-label") ?? label;
    if (
      question === undefined ||
      (await request({ title: `${title}?`, body: question, action: label, danger: isDanger }))
    ) {
      send.mutate(fields);
    }
  };
  const inTable = form.closest("td") !== null;
  const inRow = isSearch || form.closest(".inline") !== null || inTable;
  const submitButton = (
    <Button
      type="submit"
      loading={send.isPending}
      aria-label={button?.getAttribute("aria-label") ?? undefined}
      {...looks(button, inTable)}
    >
      {label}
    </Button>
  );
  return (
    <form
      onSubmit={(event) => void submit(event)}
      role={form.getAttribute("role") ?? undefined}
      action={action}
      method={isSearch ? "get" : "post"}
    >
      {[...form.querySelectorAll<HTMLInputElement>('input[type="hidden"]')].map(({ name, value }) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {send.error && <ErrorNote error={send.error} />}
      {inRow ? (
        <Group gap="sm" align="flex-end">
          {children}
          {submitButton}
        </Group>
      ) : (
        <Stack gap="sm">
          {children}
          <Group justify="flex-start">{submitButton}</Group>
        </Stack>
      )}
    </form>
  );
}

function looks(button: HTMLButtonElement | null, inTable: boolean): ButtonProps {
  return {
    ...(button?.classList.contains("quiet") === true && { variant: "default" }),
    ...(button?.classList.contains("danger") === true && { color: "red" }),
    ...(inTable && { size: "compact-sm" }),
  };
}
