import { Html, PAGE_ICON, html } from "@swath/pages";
import { STYLE_PATH } from "../pages/layout.ts";
import { CONSOLE, type ConsoleContext } from "./console-context.ts";
import type { ConsoleApp } from "./web.ts";

export const CONSOLE_STYLE_PATH = "/resources/console.css";

export type Section = "users" | "clients" | "roles" | "sessions" | "events" | "settings";

const SECTIONS: readonly (readonly [Section, string])[] = [
  ["users", "Users"],
  ["clients", "Clients"],
  ["roles", "Roles & groups"],
  ["sessions", "Sessions"],
  ["events", "Events"],
  ["settings", "Realm settings"],
];

/** What a page of the console shows. */
export interface View {
  readonly title: string;
  readonly section?: Section;
  readonly content: Html;
  /** The way up: path and name of each page above. */
  readonly above?: readonly (readonly [path: string, name: string])[];
}

interface ConsoleLayout extends View {
  readonly ctx: ConsoleContext;
  /** Realm that is administered. */
  readonly realm: string;
  readonly realms: readonly string[];
  readonly good?: string | undefined;
  readonly bad?: string | undefined;
  /** Makes the page an app where there is script. */
  readonly app?: ConsoleApp | undefined;
}

export const realmPath = (realm: string, rest = ""): string => `${CONSOLE}/realms/${encodeURIComponent(realm)}${rest}`;

/** A page of the console with its navigation: works without script, in light and dark, on a phone. */
export function renderConsolePage({
  ctx,
  realm,
  realms,
  title,
  section,
  content,
  above = [],
  good,
  bad,
  app,
}: ConsoleLayout): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${title} · ${realm} · Swath</title>
        ${PAGE_ICON}
        <link rel="stylesheet" href="${STYLE_PATH}" />
        <link rel="stylesheet" href="${CONSOLE_STYLE_PATH}" />
        ${app && new Html(app.head)}
      </head>
      <body>
        <div id="root" class="console">
          <a class="skip" href="#content">Skip to content</a>
          <header>
            <p class="brand">
              <svg viewBox="0 0 32 32" aria-hidden="true">
                <circle cx="16" cy="16" r="13" />
                <path d="M6 24 20 3.8M12 28.4 26 8" />
              </svg>
              <span>Swath</span> <span class="title">Identity</span>
            </p>
            <form class="realm" method="get" action="${CONSOLE}/switch">
              <label for="realm-switch">Realm</label>
              <select id="realm-switch" name="realm">
                ${realms.map((name) => html`<option value="${name}" ${name === realm && html` selected`}>${name}</option>`)}
              </select>
              <button class="quiet" type="submit">Switch</button>
              <a href="${CONSOLE}/new-realm">New realm</a>
            </form>
            <p class="who">
              <a href="/realms/master/account">${ctx.session.user.username}</a>
              <a href="/realms/master/protocol/openid-connect/logout">Log out</a>
            </p>
          </header>
          <nav aria-label="Realm ${realm}">
            <ul>
              ${SECTIONS.map(
                ([name, label]) =>
                  html`<li>
                    <a href="${realmPath(realm, `/${name}`)}" ${name === section && html` aria-current="page"`}
                      >${label}</a
                    >
                  </li>`,
              )}
            </ul>
          </nav>
          <main id="content" tabindex="-1">
            ${
              above.length > 0 &&
              html`<p class="above">
                ${above.map(([path, name]) => html`<a href="${path}">${name}</a> <span aria-hidden="true">›</span> `)}
              </p>`
            }
            <h1>${title}</h1>
            ${bad !== undefined && html`<p role="alert">${bad}</p>`}
            ${good !== undefined && html`<p role="status">${good}</p>`} ${content}
          </main>
        </div>
      </body>
    </html>`.text;
}
