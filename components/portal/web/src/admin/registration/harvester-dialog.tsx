import { Checkbox, NativeSelect, SimpleGrid, TextInput } from "@mantine/core";
import { EditDialog, notifyDone } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { type Harvester, putHarvester } from "../../api/registration.ts";

const TYPES = [
  { value: "STACAPI", label: "STAC API" },
  { value: "STACCatalog", label: "STAC catalog (files)" },
  { value: "Records", label: "OGC API Records" },
  { value: "OpenSearch", label: "OpenSearch" },
  { value: "CSW", label: "CSW" },
  { value: "OADS", label: "OADS" },
  { value: "Bucket", label: "Bucket (watched)" },
];

interface Fields {
  readonly name: string;
  readonly type: string;
  readonly url: string;
  readonly schedule: string;
  readonly source: string;
  readonly area: string;
  readonly begin: string;
  readonly end: string;
  readonly collection: string;
  readonly deletions: boolean;
}

/** Makes a harvester, or changes one; what the form does not show stays as it is. */
export function HarvesterDialog({
  harvester,
  onClose,
}: {
  readonly harvester: Harvester | undefined;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [fields, setFields] = useState(() => toFields(harvester));
  const save = useMutation({
    mutationFn: () => putHarvester(fields.name.trim(), toForm(fields, harvester)),
    onSuccess: async () => {
      notifyDone(`Harvester ${fields.name.trim()} saved.`);
      onClose();
      await client.invalidateQueries({ queryKey: ["harvesters"] });
    },
  });
  const text = (key: Exclude<keyof Fields, "deletions" | "type">) => ({
    value: fields[key],
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => {
      const { value } = event.currentTarget;
      setFields((before) => ({ ...before, [key]: value }));
    },
    autoComplete: "off",
    spellCheck: false,
  });
  return (
    <EditDialog
      opened
      onClose={onClose}
      title={harvester === undefined ? "Add harvester" : `Harvester ${harvester.name}`}
      save={{ mutate: () => save.mutate(), error: save.error, isPending: save.isPending }}
      isReady={fields.name.trim() !== "" && fields.url.trim() !== ""}
    >
      <TextInput label="Name" required maxLength={100} readOnly={harvester !== undefined} {...text("name")} />
      <NativeSelect
        label="Type"
        data={TYPES}
        value={fields.type}
        onChange={(event) => {
          const type = event.currentTarget.value;
          setFields((before) => ({ ...before, type }));
        }}
      />
      <TextInput
        label="Address"
        description={fields.type === "Bucket" ? "s3://bucket/folder/" : "Of the search, catalogue or description"}
        required
        {...text("url")}
      />
      <TextInput
        label="Schedule"
        description='A cron expression in UTC ("0 3 * * *") or an interval ("15m", "12h"); empty: on request'
        {...text("schedule")}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput label="From" description="2022-06-01T00:00:00Z" {...text("begin")} />
        <TextInput label="Until" description="2022-07-01T00:00:00Z" {...text("end")} />
        <TextInput label="Area" description="west,south,east,north" {...text("area")} />
        <TextInput label="Collection of the source" description="Empty: all" {...text("source")} />
      </SimpleGrid>
      <TextInput
        label="Into collection"
        description="Empty: as the source names its collections"
        {...text("collection")}
      />
      <Checkbox
        label="Remove what is gone from the source"
        checked={fields.deletions}
        onChange={(event) => {
          const deletions = event.currentTarget.checked;
          setFields((before) => ({ ...before, deletions }));
        }}
      />
    </EditDialog>
  );
}

function toFields(harvester: Harvester | undefined): Fields {
  const { url = "", type = "STACAPI", query } = harvester?.resource ?? {};
  return {
    name: harvester?.name ?? "",
    type,
    url,
    schedule: harvester?.schedule ?? "",
    source: query?.collection ?? "",
    area: query?.bbox?.join(",") ?? "",
    begin: query?.time?.begin ?? "",
    end: query?.time?.end ?? "",
    collection: harvester?.collection ?? "",
    deletions: harvester?.deletions ?? false,
  };
}

function toForm(fields: Fields, harvester: Harvester | undefined): object {
  const orNull = (value: string) => (value.trim() === "" ? null : value.trim());
  const [begin, end] = [orNull(fields.begin), orNull(fields.end)];
  return {
    ...harvester,
    resource: {
      ...harvester?.resource,
      url: fields.url.trim(),
      type: fields.type,
      query: {
        collection: orNull(fields.source),
        bbox: orNull(fields.area),
        time: { ...(begin !== null && { begin }), ...(end !== null && { end }) },
      },
    },
    collection: orNull(fields.collection),
    schedule: orNull(fields.schedule),
    deletions: fields.deletions,
  };
}
