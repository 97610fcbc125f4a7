import { type Html, html } from "@swath/pages";
import { type Client, DEFAULT_CLIENT_SETTINGS, listClients } from "../store/clients.ts";
import { findResourceServer } from "../store/resource-servers.ts";
import { renderBadge } from "./badge.ts";
import type { Form } from "./form.ts";
import type { View } from "./layout.ts";
import { PAGE_SIZE, readPageNumber, renderPager, renderSearch, renderTable, rowsOf } from "./list.ts";
import type { RealmContext } from "./page.ts";

export async function showClients({ context: { pool }, realm, query, to }: RealmContext): Promise<View> {
  const page = readPageNumber(query);
  const search = query["search"]?.trim() ?? "";
  const found = await listClients(pool, realm.id, { ...(search !== "" && { search }), ...rowsOf(page) });
  return {
    title: "Clients",
    section: "clients",
    content: html`<div class="tools">
        ${renderSearch(to("/clients"), "Client id", search)}
        <a class="button" href="${to("/clients/new")}">Create client</a>
      </div>
      <div class="panel">
        ${renderTable(
          "Clients",
          ["Client id", "Name", "Kind", "Protects", "State"],
          found
            .slice(0, PAGE_SIZE)
            .map(({ id, clientId, settings }) => [
              html`<a href="${to(`/clients/${id}`)}">${clientId}</a>`,
              settings.name,
              settings.bearerOnly ? "bearer only" : settings.publicClient ? "public" : "confidential",
              settings.authorizationServicesEnabled
                ? html`<a href="${to(`/clients/${id}/protection`)}">resources</a>`
                : "",
              settings.enabled ? renderBadge("enabled", "good") : renderBadge("disabled", "bad"),
            ]),
        )}
        ${renderPager({ page, path: to("/clients"), query, more: found.length > PAGE_SIZE })}
      </div>`,
  };
}

export async function showNewClient({ form, to }: RealmContext): Promise<View> {
  const create = form("create");
  return {
    title: "Create client",
    section: "clients",
    above: [[to("/clients"), "Clients"]],
    content: html`<div class="panel">
      ${create.close({ button: "Create client", content: renderFields(create, "", DEFAULT_CLIENT_SETTINGS) })}
    </div>`,
  };
}

export async function showClient(ctx: RealmContext, client: Client): Promise<View> {
  const { context, form, to } = ctx;
  const { id, clientId, settings } = client;
  const settingsForm = form("settings");
  const server = await findResourceServer(context.pool, id);
  return {
    title: clientId,
    section: "clients",
    above: [[to("/clients"), "Clients"]],
    content: html`${
        server !== undefined &&
        html`<p>
          <a class="button" href="${to(`/clients/${id}/protection`)}">Protected resources</a>
        </p>`
      }
      <section class="panel">
        <h2>Settings</h2>
        ${settingsForm.close({ button: "Save settings", content: renderFields(settingsForm, clientId, settings) })}
      </section>
      ${!settings.publicClient && !settings.bearerOnly && renderSecret(ctx, client)}
      <p>
        <a href="${to(`/roles?client=${id}`)}">Roles of ${clientId}</a> ·
        <a class="danger" href="${to(`/clients/${id}/delete`)}">Delete ${clientId} …</a>
      </p>`,
  };
}

function renderSecret({ form }: RealmContext, { secret, clientId }: Client): Html {
  return html`<section class="panel">
    <h2>Secret</h2>
    <details>
      <summary>Show the secret of ${clientId}</summary>
      <p><code>${secret ?? "There is none."}</code></p>
    </details>
    ${form("secret").close({
      button: "Make a new secret",
      look: "quiet",
      confirm: `Programs that use the present secret of ${clientId} are refused at once.`,
    })}
    <p class="hint">Programs that use the old one are refused at once.</p>
  </section>`;
}

function renderFields(
  { text, lines, check, select }: Form,
  clientId: string,
  settings: typeof DEFAULT_CLIENT_SETTINGS,
): Html {
  return html`<div class="fields">
      ${text({ name: "clientId", label: "Client id", value: clientId, required: true })}
      ${text({ name: "name", label: "Name", value: settings.name, hint: "Shown to people who log in." })}
      ${text({ name: "description", label: "Description", value: settings.description })}
      ${text({ name: "rootUrl", label: "Root URL", value: settings.rootUrl, hint: "What relative redirect URIs are below." })}
      ${lines({
        name: "redirectUris",
        label: "Redirect URIs",
        value: settings.redirectUris,
        hint: "One a line. A * at the end means any continuation; a * alone the hosts of this deployment.",
      })}
      ${lines({
        name: "webOrigins",
        label: "Web origins",
        value: settings.webOrigins,
        hint: "One a line. + means those of the redirect URIs.",
      })}
      ${select({
        name: "access",
        label: "Kind",
        value: settings.publicClient ? "public" : "confidential",
        choices: [
          { value: "confidential", label: "confidential: a service, with a secret" },
          { value: "public", label: "public: an application of users, without" },
        ],
      })}
    </div>
    ${check({ name: "enabled", label: "Enabled", value: settings.enabled })}
    ${check({ name: "standardFlowEnabled", label: "Standard flow (authorization code)", value: settings.standardFlowEnabled })}
    ${check({ name: "directAccessGrantsEnabled", label: "Direct access grants (password)", value: settings.directAccessGrantsEnabled })}
    ${check({ name: "serviceAccountsEnabled", label: "Service account (client credentials)", value: settings.serviceAccountsEnabled })}
    ${check({ name: "consentRequired", label: "Consent required", value: settings.consentRequired })}
    ${check({
      name: "authorizationServicesEnabled",
      label: "Protects resources",
      value: settings.authorizationServicesEnabled,
      hint: "Taking this away deletes the client's resources, policies and permissions.",
    })}`;
}
