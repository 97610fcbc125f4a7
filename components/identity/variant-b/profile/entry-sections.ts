import { html } from "@swath/pages";
import { isHostileText } from "@swath/service";

import { isUuid } from "../../store/database.ts";
import { type EntryKind, deleteEntry, insertEntry, listEntries } from "../../store/profile.ts";
import { renderForm, renderProfilePage } from "./page.ts";
import type { Section } from "./visit.ts";

interface Field {
  readonly name: string;
  readonly label: string;
  readonly optional?: true;
  readonly kind?: "url" | "secret";
}

interface EntrySection {
  readonly kind: EntryKind;
  readonly path: string;
  readonly title: string;
  readonly explanation: string;
  /** What one entry is called. */
  readonly one: string;
  /** The first names the entry. */
  readonly fields: readonly Field[];
}

const MAX_ENTRIES = 100;
const MAX_CHARACTERS = 2000;

const NAME: Field = { name: "name", label: "Name" };

const SECTIONS: readonly EntrySection[] = [
  {
    kind: "license",
    path: "/licenses_management",
    title: "Licences",
    explanation: "Licences that you hold, for data and software that ask for one.",
    one: "licence",
    fields: [
      NAME,
      { name: "holder", label: "Licence number or holder", optional: true },
      { name: "link", label: "Address of the licence text", kind: "url", optional: true },
    ],
  },
  {
    kind: "api",
    path: "/apis_management",
    title: "API keys",
    explanation: "Keys of services elsewhere that you use from here.",
    one: "API key",
    fields: [
      NAME,
      { name: "link", label: "Address of the service", kind: "url", optional: true },
      { name: "key", label: "Key", kind: "secret" },
    ],
  },
  {
    kind: "storage",
    path: "/storage_details",
    title: "Storage details",
    explanation: "Storage of your own, apart from your workspaces here.",
    one: "storage",
    fields: [
      NAME,
      { name: "endpoint", label: "Address of the storage", kind: "url" },
      { name: "bucket", label: "Bucket or container" },
      { name: "access", label: "Access key", optional: true },
      { name: "secret", label: "Secret key", kind: "secret", optional: true },
    ],
  },
];

/** Lists that users keep for themselves: licences, API keys, storage. Secrets in them are shown on request only. */
export const entrySections: readonly Section[] = SECTIONS.map((section) => ({
  path: section.path,
  title: section.title,
  show: async (ctx, notice, shown) => {
    const { kind, fields, one, title, explanation } = section;
    const entries = await listEntries(ctx.context.pool, ctx.session.user.id, kind);
    const hasSecret = fields.some(({ kind: type }) => type === "secret");
    const button = (id: string, action: string, label: string, name: string) =>
      renderForm(
        ctx,
        section,
        action,
        html`<input type="hidden" name="entry" value="${id}" />
          <button class="quiet" type="submit" aria-label="${label} ${name}">${label}</button>`,
      );
    return renderProfilePage(
      ctx,
      { path: section.path, title },
      notice,
      html`<p>${explanation}</p>
        ${
          entries.length === 0
            ? html`<p>There is none yet.</p>`
            : html`<div class="scroll" tabindex="0" role="region" aria-label="${title}">
                <table>
                  <thead>
                    <tr>
                      ${fields.map(({ label }) => html`<th>${label}</th>`)}
                      <th><span class="hint">Action</span></th>
                    </tr>
                  </thead>
                  <tbody>
                    ${entries.map(
                      ({ id, fields: values }) =>
                        html`<tr>
                          ${fields.map(
                            ({ name, kind: type }) =>
                              html`<td>
                                ${type === "secret" && id !== shown && values[name] ? "••••••••" : (values[name] ?? "")}
                              </td>`,
                          )}
                          <td>
                            ${hasSecret && button(id, "show", "Show", values["name"] ?? "")}
                            ${button(id, "remove", "Remove", values["name"] ?? "")}
                          </td>
                        </tr>`,
                    )}
                  </tbody>
                </table>
              </div>`
        }
        <h2>Add ${one === "API key" ? "an" : "a"} ${one}</h2>
        ${renderForm(
          ctx,
          section,
          "add",
          html`${fields.map(
              ({ name, label, optional, kind: type }) =>
                html`<label for="${name}">${label}${optional === true ? " (optional)" : ""}</label>
                  <input
                    id="${name}"
                    name="${name}"
                    type="${type === "secret" ? "password" : type === "url" ? "url" : "text"}"
                    maxlength="${MAX_CHARACTERS}"
                    autocomplete="off"
                    ${optional === true ? "" : html`required`}
                  />`,
            )} <button type="submit">Add</button>`,
        )}`,
    );
  },
  modify: async ({ context: { pool }, session: { user }, form }) => {
    const { kind, one } = section;
    const id = form["entry"] ?? "";
    switch (form["action"]) {
      case "add": {
        const { fields, mistake } = readEntry(section, form);
        if (mistake !== undefined) {
          return { bad: mistake };
        }
        return (await insertEntry(pool, user.id, kind, fields, MAX_ENTRIES))
          ? { good: `The ${one} is saved.` }
          : { bad: `You have ${MAX_ENTRIES} already; remove one first.` };
      }
      case "show":
        return { shown: id };
      case "remove":
        return isUuid(id) && (await deleteEntry(pool, user.id, kind, id))
          ? { good: `The ${one} is removed.` }
          : { bad: `The ${one} was removed already.` };
      default:
        return { bad: "There is no such action." };
    }
  },
}));

function readEntry(
  { fields }: EntrySection,
  form: Readonly<Record<string, string>>,
): { readonly fields: Readonly<Record<string, string>>; readonly mistake?: string } {
  const values: Record<string, string> = {};
  for (const { name, label, optional, kind } of fields) {
    const value = (form[name] ?? "").trim();
    if (value === "" && optional !== true) {
      return { fields: {}, mistake: `${label} is missing.` };
    }
    if (value.length > MAX_CHARACTERS || isHostileText(value)) {
      return { fields: {}, mistake: `${label} must be a text of at most ${MAX_CHARACTERS} characters.` };
    }
    if (kind === "url" && value !== "" && !(URL.canParse(value) && /^(https?|s3):$/.test(new URL(value).protocol))) {
      return { fields: {}, mistake: `${label} must be an address that begins with https://, http:// or s3://.` };
    }
    if (value !== "") {
      values[name] = value;
    }
  }
  return { fields: values };
}
