import { type AuthzResource, findResource } from "../store/authz-resources.ts";
import { html } from "@swath/pages";
import type { Client } from "../store/clients.ts";
import { findResourceServer } from "../store/resource-servers.ts";
import { openClient } from "./clients.ts";
import { confirmView } from "./confirm.ts";
import type { FormFields } from "./form-fields.ts";
import type { View } from "./layout.ts";
import { type ConsolePage, type RealmContext, findOr404 } from "./page.ts";
import { showProtection } from "./protection-page.ts";

/** A client that protects resources. @throws {AdminError} 404 */
export async function openProtection(ctx: RealmContext): Promise<Client> {
  const client = await openClient(ctx);
  await findOr404(client.id, `Protection by ${client.clientId}`, (id) => findResourceServer(ctx.context.pool, id));
  return client;
}

/** Path of the client's protection: of the page, and of the admin API. */
export const protectionPaths = ({ params, to }: RealmContext) => {
  const client = encodeURIComponent(params["client"] ?? "");
  return {
    page: to(`/clients/${client}/protection`),
    api: `/clients/${client}/authz/resource-server`,
  };
};

export const aboveProtection = ({ to }: RealmContext, { id, clientId }: Client) =>
  [
    [to("/clients"), "Clients"],
    [to(`/clients/${id}`), clientId],
    [to(`/clients/${id}/protection`), "Protected resources"],
  ] as const;

const PATH = "/clients/:client/protection";

async function openResource(ctx: RealmContext): Promise<{ client: Client; resource: AuthzResource }> {
  const client = await openProtection(ctx);
  const resource = await findOr404(ctx.params["resource"], "That resource", (id) =>
    findResource(ctx.context.pool, client.id, id),
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

function showResource(ctx: RealmContext, client: Client, resource: AuthzResource | undefined): View {
  const { text, lines, close } = ctx.form("resource");
  return {
    title: resource?.name ?? "Create resource",
    section: "clients",
    above: aboveProtection(ctx, client),
    content: html`<div class="panel">
        ${close({
          button: resource === undefined ? "Create resource" : "Save resource",
          content: html`<div class="fields">
            ${text({ name: "name", label: "Name", value: resource?.name, required: true })}
            ${text({ name: "displayName", label: "Display name", value: resource?.displayName })}
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
          <a class="danger" href="${protectionPaths(ctx).page}/resources/${resource.id}/delete"
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
    show: async (ctx) => showProtection(ctx, await openProtection(ctx)),
    actions: {
      server: async (ctx, fields) => {
        const { api, page } = protectionPaths(ctx);
        await ctx.call("PUT", api, {
          policyEnforcementMode: fields.text("policyEnforcementMode"),
          decisionStrategy: fields.text("decisionStrategy"),
        });
        return `${page}?done=saved`;
      },
    },
  },
  {
    path: `${PATH}/resources/new`,
    show: async (ctx) => showResource(ctx, await openProtection(ctx), undefined),
    actions: {
      resource: async (ctx, fields) => {
        const { api, page } = protectionPaths(ctx);
        const { displayName, type, ...resource } = readResource(fields);
        await ctx.call("POST", `${api}/resource`, {
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
    show: async (ctx) => {
      const { client, resource } = await openResource(ctx);
      return showResource(ctx, client, resource);
    },
    actions: {
      resource: async (ctx, fields) => {
        const { api, page } = protectionPaths(ctx);
        const { resource } = await openResource(ctx);
        await ctx.call("PUT", `${api}/resource/${resource.id}`, readResource(fields));
        return `${page}?done=saved`;
      },
    },
  },
  {
    path: `${PATH}/resources/:resource/delete`,
    show: async (ctx) => {
      const { client, resource } = await openResource(ctx);
      return confirmView(ctx, {
        title: `Delete resource ${resource.name}?`,
        section: "clients",
        above: aboveProtection(ctx, client),
        question: `Nobody reaches ${resource.uris.join(", ") || "its paths"} any more, unless another resource covers them.`,
        button: `Delete ${resource.name}`,
        back: protectionPaths(ctx).page,
      });
    },
    actions: {
      confirm: async (ctx) => {
        const { api, page } = protectionPaths(ctx);
        const { resource } = await openResource(ctx);
        await ctx.call("DELETE", `${api}/resource/${resource.id}`);
        return `${page}?done=deleted`;
      },
    },
  },
];
