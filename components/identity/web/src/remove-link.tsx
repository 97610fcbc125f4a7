import { Button } from "@mantine/core";
import { notifyFailed, useConfirm } from "@swath/ui";
import { useMutation } from "@tanstack/react-query";
import type { MouseEvent } from "react";

import { fetchPage } from "./fetch-page.ts";
import { readPageDocument } from "./page-document.ts";
import { useSurface } from "./surface.ts";
import { fieldsOf } from "./text-of.ts";

/** Asks what the page at the address asks, and does it. */
export function RemoveLink({ address, children }: { readonly address: string; readonly children: string }) {
  const send = useConfirm();
  const { show } = useSurface();
  const remove = useMutation({
    mutationFn: async () => {
      const page = readPageDocument((await fetchPage(address)).html);
      if (page.kind === "error") {
        throw new Error(page.message);
      }
      const form = page.content.flatMap((node) =>
        node instanceof Element ? (node.querySelector("form") ?? []) : [],
      )[0];
      const question = page.content.flatMap((node) =>
        node instanceof Element ? (node.querySelector("p")?.textContent ?? []) : [],
      )[0];
      if (form === undefined) {
        throw new Error("There is nothing to delete.");
      }
      const action = form.querySelector("button")?.textContent?.trim() ?? "Delete";
      if (await send({ title: page.title, body: question, action, danger: true })) {
        const response = await fetchPage(address, fieldsOf(form));
        const after = readPageDocument(response.html);
        if (!response.ok) {
          throw new Error(
            after.kind === "error" ? after.message : (alertOf(after.content) ?? after.bad ?? "It was refused."),
          );
        }
        show(response);
      }
    },
    onError: (error) => notifyFailed("Not deleted", error),
  });
  const start = (event: MouseEvent) => {
    event.preventDefault();
    remove.mutate();
  };
  return (
    <Button component="a" href={address} variant="light" color="red" loading={remove.isPending} onClick={start}>
      {children}
    </Button>
  );
}

const alertOf = (nodes: readonly Node[]): string | undefined =>
  nodes.flatMap((node) => (node instanceof Element ? (node.querySelector("[role=alert]")?.textContent ?? []) : []))[0];
