import { type AuthzResource, findResource } from "../store/authz-resources.ts";
import { html } from "@swath/pages";
import type { Client } from "../store/clients.ts";
import { findResourceServer } from "../store/resource-servers.ts";
import { openClient } from "./clients.ts";
import { confirmView } from "./confirm.ts";
import type { FormFields } from "./form-fields.ts";
import type { View } from "./layout.ts";
import { type ConsolePage, type RealmVisit, findOr404 } from "./page.ts";
import { showProtection } from "./protection-page.ts";

/** A client that protects resources. @throws {AdminError} 404 */
export async function openProtection(visit: RealmVisit): Promise<Client> {
  const client = await openClient(visit);
  await findOr404(client.id, `Protection by ${client.clientId}`, (id) => findResourceServer(visit.context.pool, id));
  return client;
}

/** Path of the client's protection: of the page, and of the admin API. */
export const protectionPaths = ({ params, to }: RealmVisit) => {
  const client = encodeURIComponent(params["client"] ?? "");
  return {
    page: to(`/clients/${client}/protection`),
    api: `/clients/${client}/authz/resource-server`,
  };
};

export const aboveProtection = ({ to }: RealmVisit, { id, clientId }: Client) =>
  [
    [to("/clients"), "Clients"],
    [to(`/clients/${id}`), clientId],
    [to(`/clients/${id}/protection`), "Protected resources"],
  ] as const;

const PATH = "/clients/:client/protection";

async function openResource(visit: RealmVisit): Promise<{ client: Client; resource: AuthzResource }> {
  const client = await openProtection(visit);
  const resource = await findOr404(visit.params["resource"], "That resource", (id) =>
    findResource(visit.context.pool, client.id, id),
  );
  return { client, resource };
}

const readResource = (fields: FormFields) => ({
  name: fields.text("name"),
  displayName: fields.text("displayName"),
  type: fields.text("type"),
  uris: fields.lines("uris"),
  scopes: fields.lines("scopes"),
});

function showResource(visit: RealmVisit, client: Client, resource: AuthzResource | undefined): View {
  const { text, lines, close } = visit.form("resource");
  return {
    title: resource?.name ?? "Create resource",
    section: "clients",
    above: aboveProtection(visit, client),
    content: html`<div class="panel">
        ${close({
          button: resource === undefined ? "Create resource" : "Save resource",
          content: html`<div class="fields">
            ${text({ name: "name", label: "Name", value: resource?.name, required: true })}
            ${text({ name: "displayName", label: "Name for people", value: resource?.displayName })}
            ${text({ name: "type", label: "Type", value: resource?.type, hint: "Permissions may be about a type." })}
            ${lines({ name: "uris", label: "Paths", value: resource?.uris ?? [], hint: "One a line, such as /eric/*" })}
            ${lines({
              name: "scopes",
              label: "Scopes",
              value: resource?.scopes.map(({ name }) => name) ?? [],
              hint: "One a line, such as view",
            })}
          </div>`,
        })}
      </div>
      ${
        resource !== undefined &&
        html`<p>
          <a class="danger" href="${protectionPaths(visit).page}/resources/${resource.id}/delete"
            >Delete ${resource.name} …</a
          >
        </p>`
      }`,
  };
}

/** What a client protects. */
export const resourcePages: readonly ConsolePage[] = [
  {
    path: PATH,
    show: async (visit) => showProtection(visit, await openProtection(visit)),
    actions: {
      server: async (visit, fields) => {
        const { api, page } = protectionPaths(visit);
        await visit.call("PUT", api, {
          policyEnforcementMode: fields.text("policyEnforcementMode"),
          decisionStrategy: fields.text("decisionStrategy"),
        });
        return `${page}?done=saved`;
      },
    },
  },
  {
    path: `${PATH}/resources/new`,
    show: async (visit) => showResource(visit, await openProtection(visit), undefined),
    actions: {
      resource: async (visit, fields) => {
        const { api, page } = protectionPaths(visit);
        const { displayName, type, ...resource } = readResource(fields);
        await visit.call("POST", `${api}/resource`, {
          ...resource,
          ...(displayName !== "" && { displayName }),
          ...(type !== "" && { type }),
        });
        return `${page}?done=created`;
      },
    },
  },
  {
    path: `${PATH}/resources/:resource`,
    show: async (visit) => {
      const { client, resource } = await openResource(visit);
      return showResource(visit, client, resource);
    },
    actions: {
      resource: async (visit, fields) => {
        const { api, page } = protectionPaths(visit);
        const { resource } = await openResource(visit);
        await visit.call("PUT", `${api}/resource/${resource.id}`, readResource(fields));
        return `${page}?done=saved`;
      },
    },
  },
  {
    path: `${PATH}/resources/:resource/delete`,
    show: async (visit) => {
      const { client, resource } = await openResource(visit);
      return confirmView(visit, {
        title: `Delete resource ${resource.name}?`,
        section: "clients",
        above: aboveProtection(visit, client),
        question: `Nobody reaches ${resource.uris.join(", ") || "its paths"} any more, unless another resource covers them.`,
        button: `Delete ${resource.name}`,
        back: protectionPaths(visit).page,
      });
    },
    actions: {
      confirm: async (visit) => {
        const { api, page } = protectionPaths(visit);
        const { resource } = await openResource(visit);
        await visit.call("DELETE", `${api}/resource/${resource.id}`);
        return `${page}?done=deleted`;
      },
    },
  },
];
