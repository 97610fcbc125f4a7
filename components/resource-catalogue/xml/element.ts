import type { XmlElement } from "@swath/xml";

export type { XmlElement } from "@swath/xml";

/** The first child of a name, in any of the namespaces that standards have had for it. */
export const childOf = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

export const childrenOf = (element: XmlElement | undefined, name: string): readonly XmlElement[] =>
  element?.children.filter((child) => child.name === name) ?? [];

/** The element that a path of local names leads to: `findPath(root, "contact", "CI_ResponsibleParty")`. */
export function findPath(element: XmlElement | undefined, ...names: readonly string[]): XmlElement | undefined {
  let found = element;
  for (const name of names) {
    found = childOf(found, name);
  }
  return found;
}

/** Text without blanks around it; `undefined` for none. */
export function textOf(element: XmlElement | undefined): string | undefined {
  const text = element?.text.trim();
  return text === undefined || text === "" ? undefined : text;
}

/** All elements of a name below one, in the order of the document. */
export function descendantsOf(element: XmlElement | undefined, name: string): XmlElement[] {
  const found: XmlElement[] = [];
  const visit = (node: XmlElement): void => {
    for (const child of node.children) {
      if (child.name === name) {
        found.push(child);
      }
      visit(child);
    }
  };
  if (element !== undefined) {
    visit(element);
  }
  return found;
}
