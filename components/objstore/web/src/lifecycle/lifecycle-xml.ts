import { escapeXml } from "../s3/xml.ts";

/** Lists of the JSON form that the AWS tools use, and the elements that S3 repeats for them. */
const LISTS: Readonly<Record<string, string>> = {
  Rules: "Rule",
  Tags: "Tag",
  Transitions: "Transition",
  NoncurrentVersionTransitions: "NoncurrentVersionTransition",
};
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

/** A lifecycle as S3 takes it, from its JSON: `{"Rules": [{"Status": "Enabled", …}]}`. */
export function toLifecycleXml(lifecycle: object): string {
  return `<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${render(lifecycle)}</LifecycleConfiguration>`;
}

function render(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return escapeXml(String(value));
  }
  return Object.entries(value)
    .flatMap(([name, content]) => {
      const element = (LISTS[name] ?? name).replace(/[^\w.-]/g, "_");
      return (Array.isArray(content) ? (content as unknown[]) : [content]).map(
        (each) => `<${element}>${render(each)}</${element}>`,
      );
    })
    .join("");
}

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
