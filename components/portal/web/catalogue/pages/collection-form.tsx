import { Group, Select, TagsInput, TextInput, Textarea } from "@mantine/core";
import { Awaited, Page, notifyDone } from "@swath/ui";
import type { StacContainer } from "@swath/ui/stac";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";

import { Trail } from "../../processing/parts/trail.tsx";
import {
  type Editable,
  type Permissions,
  collectionAddress,
  createRecord,
  editableQuery,
  listFaults,
  permissionsQuery,
  replaceRecord,
} from "../api/edit.ts";
import {
  type CollectionForm,
  EMPTY_COLLECTION,
  checkCollection,
  toCollection,
  toCollectionForm,
  toFieldErrors,
} from "../model/edit.ts";
import { collectionPath } from "../model/stac.ts";
import { RecordForm } from "../parts/record-form.tsx";

/** Makes a collection, or changes the one of the address. */
export function Component() {
  const { collection: id } = useParams();
  const permissions = useQuery(permissionsQuery(id));
  const before = useQuery({ ...editableQuery<StacContainer>(collectionAddress(id ?? "")), enabled: id !== undefined });
  const steps = [
    { to: "/catalogue/collections", label: "Collections" },
    ...(id === undefined ? [] : [{ to: collectionPath(id), label: id }]),
    { label: id === undefined ? "New collection" : "Edit" },
  ];
  return (
    <Page title={id === undefined ? "New collection" : `Edit ${id}`} above={<Trail steps={steps} />}>
      <Awaited query={permissions} what="Loading what you may do">
        {(allowed) =>
          id === undefined ? (
            <Form allowed={allowed} />
          ) : (
            <Awaited query={before} what="Loading the collection">
              {(found) => <Form allowed={allowed} before={found} />}
            </Awaited>
          )
        }
      </Awaited>
    </Page>
  );
}

const PLATFORM = "";

function Form({ allowed, before }: { readonly allowed: Permissions; readonly before?: Editable<StacContainer> }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const owners = [
    ...(allowed.isOperator ? [{ value: PLATFORM, label: "The platform" }] : []),
    ...allowed.workspaces.filter(({ role }) => role !== "reader").map(({ name }) => ({ value: name, label: name })),
  ];
  const [form, setForm] = useState<CollectionForm>(
    before === undefined ? EMPTY_COLLECTION : toCollectionForm(before.document),
  );
  const [owner, setOwner] = useState(owners[0]?.value ?? PLATFORM);
  const [visibility, setVisibility] = useState(
    allowed.collection?.visibility ?? (owners[0]?.value === PLATFORM ? "public" : "workspace"),
  );
  const [isChecked, setChecked] = useState(false);
  const save = useMutation({
    mutationFn: () => {
      const document = toCollection(form, before?.document as Readonly<Record<string, unknown>> | undefined);
      return before === undefined
        ? createRecord(
            `/stac/collections?${new URLSearchParams({ visibility, ...(owner !== PLATFORM && { workspace: owner }) })}`,
            document,
          )
        : replaceRecord(`${collectionAddress(form.id)}?visibility=${visibility}`, document, before.etag);
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["catalogue"] });
      notifyDone(`Saved ${form.id.trim()}`);
      await navigate(collectionPath(form.id.trim()));
    },
  });
  const own = checkCollection(form);
  const refused = toFieldErrors("collection", listFaults(save.error));
  const errors = { ...refused, ...(isChecked && own) };
  const set = (change: Partial<CollectionForm>) => setForm({ ...form, ...change });
  return (
    <RecordForm
      label="Collection"
      save={save}
      refused={refused}
      isValid={Object.keys(own).length === 0}
      onInvalid={() => setChecked(true)}
      back={before === undefined ? "/catalogue/collections" : collectionPath(form.id)}
    >
      <TextInput
        label="Id"
        description="Part of addresses; it cannot be changed later"
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
      <Textarea
        label="Description"
        autosize
        minRows={3}
        maxRows={12}
        value={form.description}
        onChange={({ currentTarget }) => set({ description: currentTarget.value })}
        error={errors["description"]}
      />
      <Group grow align="flex-start">
        <TextInput
          label="License"
          description="SPDX identifier, or other"
          value={form.license}
          onChange={({ currentTarget }) => set({ license: currentTarget.value })}
          error={errors["license"]}
        />
        <TagsInput
          label="Keywords"
          description="Enter ends each"
          value={[...form.keywords]}
          onChange={(keywords) => set({ keywords })}
          error={errors["keywords"]}
        />
      </Group>
      <TextInput
        label="Area"
        description="west,south,east,north in degrees"
        value={form.area}
        onChange={({ currentTarget }) => set({ area: currentTarget.value })}
        error={errors["area"]}
      />
      <Group grow align="flex-start">
        <TextInput
          label="First day"
          type="date"
          value={form.from}
          onChange={({ currentTarget }) => set({ from: currentTarget.value })}
          error={errors["from"]}
        />
        <TextInput
          label="Last day"
          description="Empty while it grows"
          type="date"
          value={form.to}
          onChange={({ currentTarget }) => set({ to: currentTarget.value })}
          error={errors["to"]}
        />
      </Group>
      <Group grow align="flex-start">
        {before === undefined && (
          <Select
            label="Belongs to"
            data={owners}
            value={owner}
            onChange={(value) => setOwner(value ?? PLATFORM)}
            allowDeselect={false}
          />
        )}
        <Select
          label="Who may read it"
          data={[
            { value: "public", label: "Everybody" },
            { value: "workspace", label: "Members of its workspace" },
          ]}
          value={visibility}
          onChange={(value) => setVisibility(value === "public" ? "public" : "workspace")}
          allowDeselect={false}
        />
      </Group>
    </RecordForm>
  );
}
