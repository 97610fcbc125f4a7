import { LISTS } from "./to-lifecycle-xml.ts";

const ELEMENTS = Object.fromEntries(Object.entries(LISTS).map(([list, element]) => [element, list]));

/** Elements that hold numbers. */
const NUMBERS = new Set([
  "Days",
  "NoncurrentDays",
  "NewerNoncurrentVersions",
  "DaysAfterInitiation",
  "ObjectSizeGreaterThan",
  "ObjectSizeLessThan",
]);

/** The JSON of a lifecycle that S3 gave. `Tag` is a list in `And` and single beside it, as the AWS tools have it. */
export function readLifecycle(document: Element): object {
  return readElement(document, document.localName) as object;
}

function readElement(element: Element, within: string): unknown {
  const children = [...element.children];
  const text = element.textContent ?? "";
  if (children.length === 0) {
    return NUMBERS.has(element.localName) ? Number(text) : text;
  }
  const result: Record<string, unknown> = {};
  for (const child of children) {
    const name = child.localName;
    const list = name === "Tag" && within !== "And" ? undefined : ELEMENTS[name];
    const value = readElement(child, name);
    if (list === undefined) {
      result[name] = value;
    } else {
      result[list] = [...((result[list] as unknown[] | undefined) ?? []), value];
    }
  }
  return result;
}
