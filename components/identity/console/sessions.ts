import { html } from "@swath/pages";
import { listSessions } from "../store/sessions.ts";
import type { View } from "./layout.ts";
import { PAGE_SIZE, readPageNumber, renderPager, renderTable, rowsOf, toTime } from "./list.ts";
import type { ConsolePage, RealmContext } from "./page.ts";

async function showSessions({ context: { pool }, realm, query, to, form, session: own }: RealmContext): Promise<View> {
  const page = readPageNumber(query);
  const found = await listSessions(pool, realm.id, rowsOf(page));
  return {
    title: "Sessions",
    section: "sessions",
    content: html`<div class="panel">
      ${renderTable(
        "Sessions",
        ["User", "Since", "Last used", "From", "For", ""],
        found.slice(0, PAGE_SIZE).map((session) => [
          html`<a href="${to(`/users/${session.userId}`)}">${session.username}</a>`,
          toTime(session.startedAt),
          toTime(session.lastAccess),
          html`${session.ip ?? ""}${session.id === own.uid && html`<br /><span class="hint">this browser</span>`}`,
          `${Object.values(session.clients).join(", ")}${session.offline ? " (offline)" : ""}`,
          form("end").close({
            button: "End",
            look: "quiet",
            hidden: { session: session.id },
            label: `End the session of ${session.username} since ${session.startedAt.toISOString()}`,
          }),
        ]),
      )}
      ${renderPager({ page, path: to("/sessions"), query, more: found.length > PAGE_SIZE })}
    </div>`,
  };
}

/** Everybody who is logged in. */
export const sessionPages: readonly ConsolePage[] = [
  {
    path: "/sessions",
    show: showSessions,
    actions: {
      end: async ({ call, to }, fields) => {
        await call("DELETE", `/sessions/${encodeURIComponent(fields.text("session"))}`);
        return to("/sessions?done=ended");
      },
    },
  },
];
