import { html } from "@swath/pages";
import { callAdmin } from "./admin-api.ts";
import { realmPath } from "./layout.ts";
import type { ConsolePage } from "./page.ts";

/** Creates a realm. */
export const newRealmPage: ConsolePage = {
  path: "/console/new-realm",
  show: async ({ form }) => {
    const { text, close } = form("create");
    return {
      title: "Create realm",
      content: html`<div class="panel">
        <p>
          A realm has its own users, clients, roles, keys and settings. Its name is part of addresses and cannot be
          changed.
        </p>
        ${close({
          button: "Create realm",
          content: html`<div class="fields">
            ${text({ name: "realm", label: "Name of the realm", required: true, hint: "Letters, digits and _ . -" })}
            ${text({ name: "displayName", label: "Display name" })}
          </div>`,
        })}
      </div>`,
    };
  },
  actions: {
    create: async (ctx, fields) => {
      const name = fields.text("realm");
      const displayName = fields.text("displayName");
      await callAdmin(ctx, "POST", "", { realm: name, ...(displayName !== "" && { displayName }) });
      return realmPath(name, "/settings?done=created");
    },
  },
};
