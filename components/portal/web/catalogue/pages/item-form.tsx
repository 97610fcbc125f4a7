import { Group, JsonInput, TextInput, Textarea } from "@mantine/core";
import { Awaited, Page, notifyDone } from "@swath/ui";
import type { StacItem } from "@swath/ui/stac";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";

import { Trail } from "../../processing/parts/trail.tsx";
import {
  type Editable,
  collectionAddress,
  createRecord,
  editableQuery,
  itemAddress,
  listFaults,
  replaceRecord,
} from "../api/edit.ts";
import { EMPTY_ITEM, type ItemForm, checkItem, toFieldErrors, toItem, toItemForm } from "../model/edit.ts";
import { collectionPath, itemPath } from "../model/stac.ts";
import { RecordForm } from "../parts/record-form.tsx";

/** Makes an item of a collection, or changes the one of the address. */
export function Component() {
  const { collection = "", item: id } = useParams();
  const before = useQuery({ ...editableQuery<StacItem>(itemAddress(collection, id ?? "")), enabled: id !== undefined });
  const steps = [
    { to: "/catalogue/collections", label: "Collections" },
    { to: collectionPath(collection), label: collection },
    { label: id === undefined ? "New item" : `Edit ${id}` },
  ];
  return (
    <Page title={id === undefined ? "New item" : `Edit ${id}`} above={<Trail steps={steps} />}>
      {id === undefined ? (
        <Form collection={collection} />
      ) : (
        <Awaited query={before} what="Loading the item">
          {(found) => <Form collection={collection} before={found} />}
        </Awaited>
      )}
    </Page>
  );
}

function Form({ collection, before }: { readonly collection: string; readonly before?: Editable<StacItem> }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [form, setForm] = useState<ItemForm>(before === undefined ? EMPTY_ITEM : toItemForm(before.document));
  const [isChecked, setChecked] = useState(false);
  const id = form.id.trim();
  const save = useMutation({
    mutationFn: () => {
      const document = toItem(form, collection, before?.document as Readonly<Record<string, unknown>> | undefined);
      return before === undefined
        ? createRecord(`${collectionAddress(collection)}/items`, document)
        : replaceRecord(itemAddress(collection, id), document, before.etag);
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["catalogue"] });
      notifyDone(`Saved ${id}`);
      await navigate(itemPath({ id, collection }));
    },
  });
  const own = checkItem(form);
  const refused = toFieldErrors("item", listFaults(save.error));
  const errors = { ...refused, ...(isChecked && own) };
  const set = (change: Partial<ItemForm>) => setForm({ ...form, ...change });
  return (
    <RecordForm
      label="Item"
      save={save}
      refused={refused}
      isValid={Object.keys(own).length === 0}
      onInvalid={() => setChecked(true)}
      back={before === undefined ? collectionPath(collection) : itemPath(before.document)}
    >
      <TextInput
        label="Id"
        value={form.id}
        onChange={({ currentTarget }) => set({ id: currentTarget.value })}
        error={errors["id"]}
        disabled={before !== undefined}
        autoComplete="off"
        spellCheck={false}
      />
      <TextInput
        label="Title"
        value={form.title}
        onChange={({ currentTarget }) => set({ title: currentTarget.value })}
        error={errors["title"]}
      />
      <Group grow align="flex-start">
        <TextInput
          label="Date and time"
          description="2026-06-01T10:30:00Z; empty with start_datetime and end_datetime below"
          value={form.datetime}
          onChange={({ currentTarget }) => set({ datetime: currentTarget.value })}
          error={errors["datetime"]}
        />
        <TextInput
          label="Cloud cover (%)"
          description="Empty where it says nothing"
          value={form.clouds}
          onChange={({ currentTarget }) => set({ clouds: currentTarget.value })}
          error={errors["clouds"]}
        />
      </Group>
      <Textarea
        label="Area"
        description="west,south,east,north in degrees, or a GeoJSON geometry; empty without place"
        autosize
        maxRows={8}
        value={form.area}
        onChange={({ currentTarget }) => set({ area: currentTarget.value })}
        error={errors["area"]}
      />
      <JsonInput
        label="Assets"
        description='Files by their keys: {"data": {"href": "s3://bucket/file.tif", "type": "image/tiff"}}'
        autosize
        minRows={4}
        maxRows={20}
        value={form.assets}
        onChange={(assets) => set({ assets })}
        error={errors["assets"]}
      />
      <JsonInput
        label="Other properties"
        autosize
        minRows={3}
        maxRows={20}
        value={form.properties}
        onChange={(properties) => set({ properties })}
        error={errors["properties"]}
      />
    </RecordForm>
  );
}
