/** Reads an answer of S3. What is no XML gives an empty document. */
export function parseXml(text: string): Element {
  return new DOMParser().parseFromString(text, "application/xml").documentElement;
}

export function childrenOf(parent: Element, name: string): readonly Element[] {
  return [...parent.children].filter(({ localName }) => localName === name);
}

export function textOf(parent: Element, name: string): string | undefined {
  return childrenOf(parent, name)[0]?.textContent ?? undefined;
}
