import { STYLE } from "@swath/pages";
import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const MORE_STYLE = `
.menu { display: flex; flex-wrap: wrap; gap: 0.4rem 1.25rem; margin: 0 0 1.25rem; align-items: baseline; }
.menu .hint { margin-left: auto; }
.profiles { border: 0; padding: 0; margin: 0 0 1rem; display: grid; gap: 0.75rem; }
.profiles legend { padding: 0; margin: 0 0 0.5rem; }
.profile { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 0.75rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; padding: 0.9rem 1.1rem; margin: 0; }
.profile input[type="radio"] { width: auto; margin-top: 0.3rem; }
.profile:has(input:checked) { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.profile p { margin: 0.15rem 0; } .profile label { margin: 0; }
.profile .options { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; margin-top: 0.4rem; }
.profile.unavailable { color: var(--soft); }
select, textarea { font: inherit; padding: 0.45rem 0.6rem; border: 1px solid var(--edge); border-radius: 0.4rem; background: var(--card); color: var(--text); max-width: 100%; }
textarea { width: 100%; font: 0.85rem/1.5 ui-monospace, monospace; }
select:focus-visible, textarea:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: center; } .actions form { display: inline; } .actions button { margin: 0; }
.spark { width: 8rem; height: 2rem; stroke: var(--accent); fill: none; stroke-width: 1.5; vertical-align: middle; }
.note { border-left: 4px solid var(--accent); color: var(--text); }
.inline { display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; align-items: end; } .inline button { margin: 0; } .inline input { width: auto; }
a.button { display: inline-block; font-weight: 600; padding: 0.6rem 1.1rem; border-radius: 0.4rem; background: var(--accent); color: var(--on-accent); text-decoration: none; }
`;

/** The style sheet and scripts of the hub's pages. */
export function addPageFiles(app: FastifyInstance): void {
  const progress = readFileSync(join(import.meta.dirname, "progress-page.js"), "utf8");
  const cached = { "cache-control": "public, max-age=300" };
  app.get("/hub/static/style.css", (_request, reply) =>
    reply
      .headers(cached)
      .type("text/css; charset=utf-8")
      .send(STYLE + MORE_STYLE),
  );
  app.get("/hub/static/progress.js", (_request, reply) =>
    reply.headers(cached).type("text/javascript; charset=utf-8").send(progress),
  );
}
