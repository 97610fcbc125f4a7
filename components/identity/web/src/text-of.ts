/** The text of an element in one line. */
export const textOf = (element: Element | null | undefined): string =>
  element?.textContent?.replaceAll(/\s+/g, " ").trim() ?? "";

/** Fields of a form, as they are sent. Forms of the console have no files. */
export const fieldsOf = (form: HTMLFormElement): URLSearchParams =>
  new URLSearchParams(
    [...new FormData(form)].flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
