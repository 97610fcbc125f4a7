import { type Client, findClientById } from "../store/clients.ts";
import { confirmView } from "./confirm.ts";
import { showClient, showClients, showNewClient } from "./client-page.ts";
import type { FormFields } from "./form-fields.ts";
import { type ConsolePage, type RealmContext, findOr404 } from "./page.ts";

/** The client that the address names. @throws {AdminError} 404 */
export const openClient = ({ context: { pool }, realm, params }: RealmContext): Promise<Client> =>
  findOr404(params["client"], "That client", (id) => findClientById(pool, realm.id, id));

const PATH = "/clients/:client";
const api = ({ params }: RealmContext, rest = "") => `/clients/${encodeURIComponent(params["client"] ?? "")}${rest}`;

/** The settings of a client, as the admin API has them. */
function readSettings(fields: FormFields): object {
  return {
    name: fields.text("name"),
    description: fields.text("description"),
    rootUrl: fields.text("rootUrl"),
    redirectUris: fields.lines("redirectUris"),
    webOrigins: fields.lines("webOrigins"),
    enabled: fields.flag("enabled"),
    publicClient: fields.text("access") === "public",
    consentRequired: fields.flag("consentRequired"),
    standardFlowEnabled: fields.flag("standardFlowEnabled"),
    directAccessGrantsEnabled: fields.flag("directAccessGrantsEnabled"),
    serviceAccountsEnabled: fields.flag("serviceAccountsEnabled"),
    authorizationServicesEnabled: fields.flag("authorizationServicesEnabled"),
  };
}

export const clientPages: readonly ConsolePage[] = [
  { path: "/clients", show: showClients },
  {
    path: "/clients/new",
    show: showNewClient,
    actions: {
      create: async ({ call, to }, fields) => {
        const { id } = await call("POST", "/clients", { clientId: fields.text("clientId"), ...readSettings(fields) });
        return to(`/clients/${id}?done=created`);
      },
    },
  },
  {
    path: PATH,
    show: async (ctx) => showClient(ctx, await openClient(ctx)),
    actions: {
      settings: async (ctx, fields) => {
        await ctx.call("PUT", api(ctx), { clientId: fields.text("clientId"), ...readSettings(fields) });
        return ctx.to(`${api(ctx)}?done=saved`);
      },
      secret: async (ctx) => {
        await ctx.call("POST", api(ctx, "/client-secret"));
        return ctx.to(`${api(ctx)}?done=secret`);
      },
    },
  },
  {
    path: `${PATH}/delete`,
    show: async (ctx) => {
      const { clientId, id } = await openClient(ctx);
      return confirmView(ctx, {
        title: `Delete ${clientId}?`,
        section: "clients",
        above: [
          [ctx.to("/clients"), "Clients"],
          [ctx.to(`/clients/${id}`), clientId],
        ],
        question: `The client ${clientId}, its roles, its service account and everything that it protects are gone for good.`,
        button: `Delete ${clientId}`,
        back: ctx.to(`/clients/${id}`),
      });
    },
    actions: {
      confirm: async (ctx) => {
        await ctx.call("DELETE", api(ctx));
        return ctx.to("/clients?done=deleted");
      },
    },
  },
];
