import { type AuthzPolicy, findPolicy } from "../store/authz-policies.ts";
import type { Client } from "../store/clients.ts";
import { confirmView } from "./confirm.ts";
import type { FormFields } from "./form-fields.ts";
import { type ConsolePage, type RealmContext, findOr404 } from "./page.ts";
import { NEW_POLICY_TYPES } from "./policy-kinds.ts";
import { showPermission, showPolicy } from "./policy-page.ts";
import { aboveProtection, openProtection, protectionPaths } from "./resources.ts";

type Kind = "policy" | "permission";

async function openPolicy(ctx: RealmContext): Promise<{ client: Client; policy: AuthzPolicy }> {
  const client = await openProtection(ctx);
  const policy = await findOr404(ctx.params["policy"], "That rule", (id) =>
    findPolicy(ctx.context.pool, client.id, id),
  );
  return { client, policy };
}

/** The fields of a policy as the admin API has them; those of other types are not sent. */
function readRule(type: string, fields: FormFields, policy?: AuthzPolicy): object {
  const common = { name: fields.text("name"), description: fields.text("description") };
  switch (type) {
    case "user":
      return { ...common, logic: fields.text("logic"), users: fields.lines("users") };
    case "role":
      return {
        ...common,
        logic: fields.text("logic"),
        roles: fields.all("roles").map((id) => ({ id, required: isRequired(policy, id) })),
      };
    case "group":
      return {
        ...common,
        logic: fields.text("logic"),
        groups: fields.all("groups").map((id) => ({ id, extendChildren: fields.flag("extendChildren") })),
      };
    case "aggregate":
      return {
        ...common,
        logic: fields.text("logic"),
        policies: fields.all("policies"),
        decisionStrategy: fields.text("decisionStrategy"),
      };
    case "resource":
      return {
        ...common,
        resources: fields.all("resources"),
        policies: fields.all("policies"),
        decisionStrategy: fields.text("decisionStrategy"),
        resourceType: fields.text("resourceType"),
      };
    case "scope":
      return {
        ...common,
        resources: fields.all("resources"),
        scopes: fields.all("scopes"),
        policies: fields.all("policies"),
        decisionStrategy: fields.text("decisionStrategy"),
      };
    default:
      // What else there is to it is for the admin API.
      return { ...common, logic: fields.text("logic") };
  }
}

/** Which roles of a policy everybody must have is set by the admin API, and stays. */
function isRequired(policy: AuthzPolicy | undefined, role: string): boolean {
  const roles = policy?.config["roles"];
  return (
    Array.isArray(roles) &&
    (roles as readonly { id?: unknown; required?: unknown }[]).some(
      ({ id, required }) => id === role && required === true,
    )
  );
}

function pagesOf(kind: Kind): readonly ConsolePage[] {
  const path = `/clients/:client/protection/${kind === "policy" ? "policies" : "permissions"}`;
  const show = kind === "policy" ? showPolicy : showPermission;
  const allowed: readonly string[] =
    kind === "policy" ? NEW_POLICY_TYPES.map(({ type }) => type) : ["resource", "scope"];
  const typeOf = ({ query, request }: RealmContext): string => {
    // A form that was refused says itself what it was about.
    const { type = query["type"] } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    return allowed.find((candidate) => candidate === type) ?? (allowed[0] as string);
  };
  return [
    {
      path: `${path}/new`,
      show: async (ctx) => show(ctx, await openProtection(ctx), typeOf(ctx), undefined),
      actions: {
        rule: async (ctx, fields) => {
          const { api, page } = protectionPaths(ctx);
          const type = fields.text("type");
          await ctx.call("POST", `${api}/${kind}/${encodeURIComponent(type)}`, readRule(type, fields));
          return `${page}?done=created`;
        },
      },
    },
    {
      path: `${path}/:policy`,
      show: async (ctx) => {
        const { client, policy } = await openPolicy(ctx);
        return show(ctx, client, policy.type, policy);
      },
      actions: {
        rule: async (ctx, fields) => {
          const { api, page } = protectionPaths(ctx);
          const { policy } = await openPolicy(ctx);
          await ctx.call("PUT", `${api}/${kind}/${policy.id}`, readRule(policy.type, fields, policy));
          return `${page}?done=saved`;
        },
      },
    },
    {
      path: `${path}/:policy/delete`,
      show: async (ctx) => {
        const { client, policy } = await openPolicy(ctx);
        return confirmView(ctx, {
          title: `Delete ${kind} ${policy.name}?`,
          section: "clients",
          above: aboveProtection(ctx, client),
          question: "What it granted is refused from then on.",
          button: `Delete ${policy.name}`,
          back: protectionPaths(ctx).page,
        });
      },
      actions: {
        confirm: async (ctx) => {
          const { api, page } = protectionPaths(ctx);
          const { policy } = await openPolicy(ctx);
          await ctx.call("DELETE", `${api}/${kind}/${policy.id}`);
          return `${page}?done=deleted`;
        },
      },
    },
  ];
}

/** Policies and permissions of a client. */
export const policyPages: readonly ConsolePage[] = [...pagesOf("policy"), ...pagesOf("permission")];
