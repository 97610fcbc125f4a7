import { CONFIGURE_TOTP } from "../login/second-factor.ts";
import { findUser } from "../store/users.ts";
import { confirmView } from "./confirm.ts";
import { type ConsolePage, type RealmContext, findOr404 } from "./page.ts";
import { changeRole } from "./role-mapping.ts";
import { showUser } from "./user-page.ts";

const openUser = ({ context: { pool }, realm, params }: RealmContext) =>
  findOr404(params["user"], "That user", (id) => findUser(pool, realm.id, id));

const PATH = "/users/:user";
const back = ({ to, params }: RealmContext, done: string) => to(`/users/${params["user"] ?? ""}?done=${done}`);
const api = ({ params }: RealmContext, rest = "") => `/users/${encodeURIComponent(params["user"] ?? "")}${rest}`;

async function setActions(ctx: RealmContext, change: (actions: readonly string[]) => readonly string[]) {
  const { requiredActions } = await openUser(ctx);
  await ctx.call("PUT", api(ctx), { requiredActions: change(requiredActions) });
  return back(ctx, "saved");
}

/** One user: everything that can be done is a form of the one page, except deleting. */
export const userPages: readonly ConsolePage[] = [
  {
    path: PATH,
    show: async (ctx) => showUser(ctx, await openUser(ctx)),
    actions: {
      profile: async (ctx, fields) => {
        await ctx.call("PUT", api(ctx), {
          username: fields.text("username"),
          email: fields.text("email"),
          emailVerified: fields.flag("emailVerified"),
          firstName: fields.text("firstName"),
          lastName: fields.text("lastName"),
        });
        return back(ctx, "saved");
      },
      enable: async (ctx) => {
        await ctx.call("PUT", api(ctx), { enabled: true });
        return back(ctx, "enabled");
      },
      disable: async (ctx) => {
        if (ctx.params["user"] === ctx.session.user.id) {
          throw new RangeError("You cannot disable the account that you are using.");
        }
        await ctx.call("PUT", api(ctx), { enabled: false });
        return back(ctx, "disabled");
      },
      password: async (ctx, fields) => {
        if (fields.raw("password") !== fields.raw("again")) {
          throw new RangeError("The two passwords are not the same.");
        }
        await ctx.call("PUT", api(ctx, "/reset-password"), {
          type: "password",
          value: fields.raw("password"),
          temporary: fields.flag("temporary"),
        });
        return back(ctx, "password");
      },
      "remove-device": async (ctx, fields) => {
        await ctx.call("DELETE", api(ctx, `/credentials/${encodeURIComponent(fields.text("device"))}`));
        return back(ctx, "device-removed");
      },
      "demand-otp": (ctx) => setActions(ctx, (actions) => [...actions, CONFIGURE_TOTP]),
      "waive-otp": (ctx) => setActions(ctx, (actions) => actions.filter((action) => action !== CONFIGURE_TOTP)),
      unlock: async (ctx) => {
        await ctx.call("DELETE", `/attack-detection/brute-force${api(ctx)}`);
        return back(ctx, "unlocked");
      },
      give: async (ctx, fields) => {
        await changeRole(ctx, "POST", api(ctx), fields.text("role"));
        return back(ctx, "given");
      },
      take: async (ctx, fields) => {
        await changeRole(ctx, "DELETE", api(ctx), fields.text("role"));
        return back(ctx, "taken");
      },
      join: async (ctx, fields) => {
        if (fields.text("group") === "") {
          throw new RangeError("Choose a group.");
        }
        await ctx.call("PUT", api(ctx, `/groups/${encodeURIComponent(fields.text("group"))}`));
        return back(ctx, "joined");
      },
      leave: async (ctx, fields) => {
        await ctx.call("DELETE", api(ctx, `/groups/${encodeURIComponent(fields.text("group"))}`));
        return back(ctx, "left");
      },
      end: async (ctx, fields) => {
        await ctx.call("DELETE", `/sessions/${encodeURIComponent(fields.text("session"))}`);
        return back(ctx, "ended");
      },
      logout: async (ctx) => {
        await ctx.call("POST", api(ctx, "/logout"));
        return back(ctx, "logged-out");
      },
    },
  },
  {
    path: `${PATH}/delete`,
    show: async (ctx) => {
      const { to } = ctx;
      const user = await openUser(ctx);
      return confirmView(ctx, {
        title: `Delete ${user.username}?`,
        section: "users",
        above: [
          [to("/users"), "Users"],
          [to(`/users/${user.id}`), user.username],
        ],
        question: `The account ${user.username}, its roles, groups and sessions are gone for good. Disabling it instead keeps them.`,
        button: `Delete ${user.username}`,
        back: to(`/users/${user.id}`),
      });
    },
    actions: {
      confirm: async (ctx) => {
        await ctx.call("DELETE", api(ctx));
        return ctx.to("/users?done=deleted");
      },
    },
  },
];
