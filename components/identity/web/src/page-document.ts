import { textOf } from "./text-of.ts";

/** A page of the console as the service made it: what its frame says, and its content. */
export interface ConsoleDocument {
  readonly kind: "console";
  readonly title: string;
  readonly realm: string;
  readonly realms: readonly string[];
  readonly user: string;
  readonly links: readonly { readonly to: string; readonly label: string }[];
  readonly above: readonly { readonly to: string; readonly label: string }[];
  /** What was wrong with a change, where no form of the page shows it. */
  readonly bad: string | undefined;
  /** What happened. */
  readonly good: string | undefined;
  readonly content: readonly Node[];
}

/** A page that only says what is wrong. */
export interface ErrorDocument {
  readonly kind: "error";
  readonly title: string;
  readonly message: string;
}

export type PageDocument = ConsoleDocument | ErrorDocument;

const linkOf = (element: Element) => ({ to: element.getAttribute("href") ?? "/", label: textOf(element) });

export function readPageDocument(html: string): PageDocument {
  const page = new DOMParser().parseFromString(html, "text/html");
  const main = page.querySelector(".console main");
  if (main === null) {
    return {
      kind: "error",
      title: textOf(page.querySelector("h1")) || "This page cannot be shown",
      message: textOf(page.querySelector("[role=alert]")) || textOf(page.body),
    };
  }
  const frame = new Set([":scope > h1", ":scope > .above", ":scope > [role=alert]", ":scope > [role=status]"]);
  const [title, above, bad, good] = [...frame].map((selector) => main.querySelector(selector));
  const realms = [...page.querySelectorAll<HTMLOptionElement>("#realm-switch option")];
  return {
    kind: "console",
    title: textOf(title),
    realm: realms.find(({ selected }) => selected)?.value ?? "master",
    realms: realms.map(({ value }) => value),
    user: textOf(page.querySelector(".who a")),
    links: [...page.querySelectorAll("nav a")].map(linkOf),
    above: [...(above?.querySelectorAll("a") ?? [])].map(linkOf),
    bad: bad ? textOf(bad) : undefined,
    good: good ? textOf(good) : undefined,
    content: [...main.childNodes].filter((node) => ![title, above, bad, good].includes(node as Element)),
  };
}
