import { CONFIGURE_TOTP } from "../login/second-factor.ts";
import { findUser } from "../store/users.ts";
import { confirmView } from "./confirm.ts";
import { type ConsolePage, type RealmVisit, findOr404 } from "./page.ts";
import { changeRole } from "./role-mapping.ts";
import { showUser } from "./user-page.ts";

const openUser = ({ context: { pool }, realm, params }: RealmVisit) =>
  findOr404(params["user"], "That user", (id) => findUser(pool, realm.id, id));

const PATH = "/users/:user";
const back = ({ to, params }: RealmVisit, done: string) => to(`/users/${params["user"] ?? ""}?done=${done}`);
const api = ({ params }: RealmVisit, rest = "") => `/users/${encodeURIComponent(params["user"] ?? "")}${rest}`;

async function setActions(visit: RealmVisit, change: (actions: readonly string[]) => readonly string[]) {
  const { requiredActions } = await openUser(visit);
  await visit.call("PUT", api(visit), { requiredActions: change(requiredActions) });
  return back(visit, "saved");
}

/** One user: everything that can be done is a form of the one page, except deleting. */
export const userPages: readonly ConsolePage[] = [
  {
    path: PATH,
    show: async (visit) => showUser(visit, await openUser(visit)),
    actions: {
      profile: async (visit, fields) => {
        await visit.call("PUT", api(visit), {
          username: fields.text("username"),
          email: fields.text("email"),
          emailVerified: fields.flag("emailVerified"),
          firstName: fields.text("firstName"),
          lastName: fields.text("lastName"),
        });
        return back(visit, "saved");
      },
      enable: async (visit) => {
        await visit.call("PUT", api(visit), { enabled: true });
        return back(visit, "enabled");
      },
      disable: async (visit) => {
        if (visit.params["user"] === visit.session.user.id) {
          throw new RangeError("You cannot disable the account that you are using.");
        }
        await visit.call("PUT", api(visit), { enabled: false });
        return back(visit, "disabled");
      },
      password: async (visit, fields) => {
        if (fields.raw("password") !== fields.raw("again")) {
          throw new RangeError("The two passwords are not the same.");
        }
        await visit.call("PUT", api(visit, "/reset-password"), {
          type: "password",
          value: fields.raw("password"),
          temporary: fields.flag("temporary"),
        });
        return back(visit, "password");
      },
      "remove-device": async (visit, fields) => {
        await visit.call("DELETE", api(visit, `/credentials/${encodeURIComponent(fields.text("device"))}`));
        return back(visit, "device-removed");
      },
      "demand-otp": (visit) => setActions(visit, (actions) => [...actions, CONFIGURE_TOTP]),
      "waive-otp": (visit) => setActions(visit, (actions) => actions.filter((action) => action !== CONFIGURE_TOTP)),
      unlock: async (visit) => {
        await visit.call("DELETE", `/attack-detection/brute-force${api(visit)}`);
        return back(visit, "unlocked");
      },
      give: async (visit, fields) => {
        await changeRole(visit, "POST", api(visit), fields.text("role"));
        return back(visit, "given");
      },
      take: async (visit, fields) => {
        await changeRole(visit, "DELETE", api(visit), fields.text("role"));
        return back(visit, "taken");
      },
      join: async (visit, fields) => {
        if (fields.text("group") === "") {
          throw new RangeError("Choose a group.");
        }
        await visit.call("PUT", api(visit, `/groups/${encodeURIComponent(fields.text("group"))}`));
        return back(visit, "joined");
      },
      leave: async (visit, fields) => {
        await visit.call("DELETE", api(visit, `/groups/${encodeURIComponent(fields.text("group"))}`));
        return back(visit, "left");
      },
      end: async (visit, fields) => {
        await visit.call("DELETE", `/sessions/${encodeURIComponent(fields.text("session"))}`);
        return back(visit, "ended");
      },
      logout: async (visit) => {
        await visit.call("POST", api(visit, "/logout"));
        return back(visit, "logged-out");
      },
    },
  },
  {
    path: `${PATH}/delete`,
    show: async (visit) => {
      const { to } = visit;
      const user = await openUser(visit);
      return confirmView(visit, {
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
      confirm: async (visit) => {
        await visit.call("DELETE", api(visit));
        return visit.to("/users?done=deleted");
      },
    },
  },
];
