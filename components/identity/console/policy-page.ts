import { type Html, html } from "@swath/pages";
import { type AuthzPolicy, listPolicies, isPermission } from "../store/authz-policies.ts";
import { listResources, listScopes } from "../store/authz-resources.ts";
import type { Client } from "../store/clients.ts";
import { listGroups } from "../store/groups.ts";
import { listAllRoles } from "../store/roles.ts";
import { findUser } from "../store/users.ts";
import type { Form } from "./form.ts";
import type { View } from "./layout.ts";
import type { RealmContext } from "./page.ts";
import { NEW_POLICY_TYPES } from "./policy-kinds.ts";
import { aboveProtection, protectionPaths } from "./resources.ts";

const STRATEGIES = [
  { value: "UNANIMOUS", label: "all must grant (unanimous)" },
  { value: "AFFIRMATIVE", label: "one is enough (affirmative)" },
  { value: "CONSENSUS", label: "more must grant than refuse (consensus)" },
];

/** A policy: who is meant. */
export async function showPolicy(
  ctx: RealmContext,
  client: Client,
  type: string,
  policy: AuthzPolicy | undefined,
): Promise<View> {
  const form = ctx.form("rule");
  const label = NEW_POLICY_TYPES.find((known) => known.type === type)?.label ?? type;
  return showRule(ctx, client, {
    kind: "policies",
    title: policy?.name ?? `Create policy: ${label}`,
    policy,
    type,
    content: html`${form.select({
      name: "logic",
      label: "Logic",
      value: policy?.logic ?? "POSITIVE",
      choices: [
        { value: "POSITIVE", label: "Positive: grants to them" },
        { value: "NEGATIVE", label: "Negative: grants to all others" },
      ],
    })}
    ${await renderConfig(ctx, client, form, type, policy)}`,
  });
}

/** A permission: which policies decide about which resources or scopes. */
export async function showPermission(
  ctx: RealmContext,
  client: Client,
  type: string,
  permission: AuthzPolicy | undefined,
): Promise<View> {
  const { pool } = ctx.context;
  const [resources, scopes, policies] = await Promise.all([
    listResources(pool, client.id),
    listScopes(pool, client.id),
    listPolicies(pool, client.id, { permission: false }),
  ]);
  const { checks, select, text } = ctx.form("rule");
  const resourceType = permission?.config["defaultResourceType"];
  return showRule(ctx, client, {
    kind: "permissions",
    title: permission?.name ?? (type === "scope" ? "Create permission on scopes" : "Create permission"),
    policy: permission,
    type,
    content: html`${
        permission === undefined &&
        (type === "resource"
          ? html`<p><a href="?type=scope">About scopes instead</a></p>`
          : html`<p><a href="?type=resource">About whole resources instead</a></p>`)
      }
      <div class="fields">
        ${checks({
          name: "resources",
          label: "Resources",
          value: permission?.resources ?? [],
          choices: resources.map(({ id, name }) => ({ value: id, label: name })),
        })}
        ${
          type === "scope" &&
          checks({
            name: "scopes",
            label: "Scopes",
            value: permission?.scopes ?? [],
            choices: scopes.map(({ id, name }) => ({ value: id, label: name })),
          })
        }
        ${checks({
          name: "policies",
          label: "Policies",
          value: permission?.policies ?? [],
          choices: policies.map(({ id, name }) => ({ value: id, label: name })),
        })}
      </div>
      <div class="fields">
        ${
          type === "resource" &&
          text({
            name: "resourceType",
            label: "All resources of the type",
            value: typeof resourceType === "string" ? resourceType : "",
          })
        }
        ${select({
          name: "decisionStrategy",
          label: "Where the policies differ",
          value: permission?.decisionStrategy ?? "AFFIRMATIVE",
          choices: STRATEGIES,
        })}
      </div>`,
  });
}

interface Rule {
  readonly kind: "policies" | "permissions";
  readonly title: string;
  readonly policy: AuthzPolicy | undefined;
  readonly type: string;
  readonly content: Html;
}

function showRule(ctx: RealmContext, client: Client, { kind, title, policy, type, content }: Rule): View {
  const { text, close } = ctx.form("rule");
  return {
    title,
    section: "clients",
    above: aboveProtection(ctx, client),
    content: html`<div class="panel">
        ${close({
          button: policy === undefined ? "Create" : "Save",
          hidden: { type },
          content: html`<div class="fields">
              ${text({ name: "name", label: "Name", value: policy?.name, required: true })}
              ${text({ name: "description", label: "Description", value: policy?.description })}
            </div>
            ${content}`,
        })}
      </div>
      ${
        policy !== undefined &&
        html`<p>
          <a class="danger" href="${protectionPaths(ctx).page}/${kind}/${policy.id}/delete">Delete ${policy.name} …</a>
        </p>`
      }`,
  };
}

async function renderConfig(
  { context: { pool }, realm }: RealmContext,
  client: Client,
  { lines, checks, check, select }: Form,
  type: string,
  policy: AuthzPolicy | undefined,
): Promise<Html> {
  const listed = (name: string): readonly unknown[] => {
    const value = policy?.config[name];
    return Array.isArray(value) ? (value as readonly unknown[]) : [];
  };
  const ids = (name: string) =>
    listed(name).map((item) => (typeof item === "string" ? item : String((item as { id?: unknown }).id)));
  switch (type) {
    case "user": {
      const users = await Promise.all(ids("users").map((id) => findUser(pool, realm.id, id)));
      return lines({
        name: "users",
        label: "Users",
        value: users.flatMap((user) => user?.username ?? []),
        hint: "User names, one a line.",
      });
    }
    case "role":
      return checks({
        name: "roles",
        label: "Roles: one of them is enough",
        value: ids("roles"),
        choices: (await listAllRoles(pool, realm.id)).map(({ id, name, clientId }) => ({
          value: id,
          label: clientId === undefined ? name : `${name} (of ${clientId})`,
        })),
      });
    case "group":
      return html`${checks({
        name: "groups",
        label: "Groups",
        value: ids("groups"),
        choices: (await listGroups(pool, realm.id)).map(({ id, path }) => ({ value: id, label: path })),
      })}
      ${check({
        name: "extendChildren",
        label: "Members of the groups below too",
        value: listed("groups").some((item) => (item as { extendChildren?: unknown }).extendChildren === true),
      })}`;
    case "aggregate":
      return html`${checks({
        name: "policies",
        label: "Policies",
        value: policy?.policies ?? [],
        choices: (await listPolicies(pool, client.id))
          .filter((other) => !isPermission(other) && other.id !== policy?.id)
          .map(({ id, name }) => ({ value: id, label: name })),
      })}
      ${select({
        name: "decisionStrategy",
        label: "Where they differ",
        value: policy?.decisionStrategy ?? "UNANIMOUS",
        choices: STRATEGIES,
      })}`;
    case "authenticated":
      return html`<p class="hint">Everybody with a valid token is meant.</p>`;
    default:
      return html`<p class="hint">What a policy of type ${type} looks at is set by the admin API:</p>
        <pre class="scroll" tabindex="0">${JSON.stringify(policy?.config ?? {}, null, 2)}</pre>`;
  }
}
