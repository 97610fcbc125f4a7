import type { CatalogueContext } from "../http/context.ts";
import { dcToRecord } from "../model/from-dc.ts";
import type { NewRecord, StoredRecord } from "../model/record.ts";
import { prepareItem } from "../stac/prepare.ts";
import { readSource } from "../store/read-record.ts";
import { cutElement } from "../xml/cut.ts";
import { type XmlElement, childOf, childrenOf, textOf } from "../xml/element.ts";
import { element } from "../xml/escape.ts";
import { NS } from "../xml/namespaces.ts";
import { readXml } from "../xml/read.ts";
import { OwsError } from "./ows-error.ts";
import { findQueryable } from "./queryables.ts";

/** New values of properties, by the names that the request has; without a value a property is removed. */
export type Changes = ReadonlyMap<string, string | undefined>;

/** The elements RecordProperty of an update. @throws {OwsError} for none, and for one without a name */
export function readChanges(update: XmlElement): Changes {
  const changes = new Map<string, string | undefined>();
  for (const entry of childrenOf(update, "RecordProperty")) {
    const name = textOf(childOf(entry, "Name"));
    if (name === undefined) {
      throw new OwsError("MissingParameterValue", "RecordProperty", "RecordProperty must hold a Name.");
    }
    changes.set(name, childOf(entry, "Value")?.text.trim());
  }
  if (changes.size === 0) {
    throw new OwsError(
      "MissingParameterValue",
      "Update",
      "Update must hold a record, or RecordProperty and Constraint.",
    );
  }
  return changes;
}

/** A record with some properties changed, in the form that it is kept in. @throws {OwsError} for forms that only whole records go into */
export async function changeRecord(
  context: CatalogueContext,
  stored: StoredRecord,
  changes: Changes,
): Promise<NewRecord> {
  if (changes.has("dc:identifier") || changes.has("Identifier")) {
    throw new OwsError("InvalidParameterValue", "RecordProperty", "The identifier of a record cannot be changed.");
  }
  switch (stored.format) {
    case "dc": {
      const { bytes } = await readSource(context.pool, stored);
      return changeDublinCore(bytes, changes);
    }
    case "stac":
      return changeItem(context, stored, changes);
    default:
      throw new OwsError(
        "OptionNotSupported",
        "RecordProperty",
        `The record ${JSON.stringify(stored.id)} is kept as ${stored.format === "iso" ? "ISO 19139" : "JSON"}; update it by a whole record.`,
      );
  }
}

const TERMS = new Set(["abstract", "modified", "created", "issued", "spatial", "temporal", "references"]);

async function changeDublinCore(bytes: Buffer, changes: Changes): Promise<NewRecord> {
  const { text, root } = await readXml(bytes);
  const names = new Map([...changes].map(([name, value]) => [toLocalName(name), value]));
  const kept = root.children.filter(({ name }) => !names.has(name)).map((child) => cutElement(text, child));
  const added = [...names].map(([name, value]) => element(`${TERMS.has(name) ? "dct" : "dc"}:${name}`, value));
  const changed = `<csw:Record xmlns:csw="${NS.csw2}" xmlns:dc="${NS.dc}" xmlns:dct="${NS.dct}">${[...added, ...kept].join("")}</csw:Record>`;
  const source = Buffer.from(changed);
  return dcToRecord((await readXml(source)).root, source);
}

/** `dc:title`, `/csw:Record/dc:title`, `Title` → `title` */
function toLocalName(name: string): string {
  const local = name.split(/[:/]/).at(-1) ?? "";
  if (!/^[A-Za-z]{1,40}$/.test(local) || findQueryable(name, "RecordProperty").kind === "words") {
    throw new OwsError(
      "InvalidParameterValue",
      "RecordProperty",
      `${JSON.stringify(name.slice(0, 60))} is not an element of csw:Record.`,
    );
  }
  return local.charAt(0).toLowerCase() + local.slice(1);
}

function changeItem(context: CatalogueContext, { text, collection }: StoredRecord, changes: Changes): NewRecord {
  const item = JSON.parse(text) as { readonly properties: Record<string, unknown> };
  const properties = new Map(Object.entries(item.properties));
  for (const [name, value] of changes) {
    const queryable = findQueryable(name, "RecordProperty");
    if (!("property" in queryable) || queryable.property === "collection" || queryable.property === "id") {
      throw new OwsError(
        "InvalidParameterValue",
        "RecordProperty",
        `${JSON.stringify(name.slice(0, 60))} of a STAC item cannot be changed by its name.`,
      );
    }
    const property = queryable.property.replace(/^properties\./, "");
    if (value === undefined) {
      properties.delete(property);
    } else {
      properties.set(
        property,
        queryable.kind === "list" || queryable.kind === "relation"
          ? [value]
          : queryable.kind === "number" || typeof properties.get(property) === "number"
            ? Number(value)
            : value,
      );
    }
  }
  const changed = { ...item, properties: Object.fromEntries(properties) };
  return prepareItem(context, { text: JSON.stringify(changed), value: changed }, collection);
}
