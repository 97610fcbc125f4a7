import { html } from "@swath/pages";

import { acceptTerm, findTerm, listAcceptances, listTerms, withdrawTerm } from "../../store/terms.ts";
import { changeTerms } from "../change-terms.ts";
import { renderForm, renderProfilePage, toText } from "./page.ts";
import type { Section } from "./visit.ts";

const self = { path: "/TC_management", title: "Terms and conditions" };

/** Terms that policies ask for, and which of them the user has accepted. */
export const termsSection: Section = {
  ...self,
  show: async (ctx, notice) => {
    const { context, handle, session } = ctx;
    const [terms, accepted] = await Promise.all([
      listTerms(context.pool, handle.realm.id),
      listAcceptances(context.pool, handle.realm.id, session.user.id),
    ]);
    const acceptedAt = new Map(accepted.map((each) => [each.term, each.acceptedAt]));
    return renderProfilePage(
      ctx,
      self,
      notice,
      html`<p>Some services ask for terms to be accepted before they let you in.</p>
        ${terms.length === 0 && html`<p>There are none.</p>`}
        ${terms.map(({ id, document }) => {
          const at = acceptedAt.get(id);
          const text = textOf(document, ["term_description", "description", "text"]);
          const title = textOf(document, ["term_name", "name", "title"]) ?? id;
          return html`<h2>${title}</h2>
            ${text !== undefined && html`<p>${text}</p>`}
            <p class="hint">${at === undefined ? "Not accepted." : `Accepted ${toText(at)}.`}</p>
            ${renderForm(
              ctx,
              self,
              at === undefined ? "accept" : "withdraw",
              html`<input type="hidden" name="term" value="${id}" />
                <button
                  ${at === undefined ? "" : html`class="quiet"`}
                  type="submit"
                  aria-label="${at === undefined ? "Accept" : "Withdraw the acceptance of"} ${title}"
                >
                  ${at === undefined ? "Accept" : "Withdraw"}
                </button>`,
            )}`;
        })}`,
    );
  },
  modify: async ({ context, handle, session, form }) => {
    const { id: realmId, name } = handle.realm;
    const term = form["term"] ?? "";
    const apply = { accept: acceptTerm, withdraw: withdrawTerm }[form["action"] ?? ""];
    if (apply === undefined) {
      return { bad: "There is no such action." };
    }
    if ((await findTerm(context.pool, realmId, term)) === undefined) {
      return { bad: "These terms are no longer there." };
    }
    await changeTerms(context, name, (db) => apply(db, realmId, session.user.id, term));
    return { good: form["action"] === "accept" ? "Accepted." : "Withdrawn." };
  },
};

function textOf(document: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  return names.map((name) => document[name]).find((value) => typeof value === "string" && value !== "") as
    | string
    | undefined;
}
