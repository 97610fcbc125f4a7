import { Button, Group, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";

import { browsePath } from "./paths.ts";

/** Opens any STAC document: https://…, or s3://BUCKET/KEY of the user's workspace. */
export function OpenAddress({ address }: { readonly address: string }) {
  const [text, setText] = useState(address);
  const [mistake, setMistake] = useState<string>();
  const navigate = useNavigate();
  const open = (event: FormEvent) => {
    event.preventDefault();
    const requested = text.trim();
    const url = URL.parse(requested);
    if (url === null || !["https:", "http:", "s3:"].includes(url.protocol) || url.username !== "") {
      setMistake("An address begins with https:// or s3://");
      return;
    }
    void navigate(browsePath(requested));
  };
  return (
    <Group component="form" onSubmit={open} gap="xs" align="flex-end" wrap="wrap" aria-label="Open an address">
      <TextInput
        label="Address"
        description="A catalogue, collection or item: https://…, or s3://bucket/catalog.json"
        flex="1 1 18rem"
        value={text}
        error={mistake}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setMistake(undefined);
        }}
      />
      <Button type="submit" variant="default">
        Open
      </Button>
    </Group>
  );
}
