/** What the console has besides the style of all pages. */
export const CONSOLE_STYLE = `body:has(> .console) { display: block; padding: 0; }
.console { display: grid; min-height: 100vh; grid-template: "head head" auto "nav main" 1fr / 14rem minmax(0, 1fr); place-items: stretch; padding: 0; }
.console header { grid-area: head; display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; align-items: center; min-height: 3.5rem;
  padding: 0.5rem 1rem; background: var(--card); border-bottom: 1px solid var(--line); }
.console header .brand { margin: 0; }
.console header .brand .title { font-weight: 400; letter-spacing: 0; color: var(--soft); border-left: 1px solid var(--line); padding-left: 0.75rem; }
.console header .realm { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
.console header .realm label { margin: 0; }
.console header .realm select { width: auto; max-width: 12rem; }
.console header .realm button { width: auto; }
.console header .who { margin: 0 0 0 auto; display: flex; gap: 1rem; }
.console nav { grid-area: nav; padding: 0.625rem; background: var(--card); border-right: 1px solid var(--line); }
.console nav ul { list-style: none; margin: 0; padding: 0; }
.console nav a { display: block; padding: 0.5rem 0.75rem; color: var(--text); text-decoration: none; border-radius: 0.5rem; font-size: 0.875rem; }
.console nav a:hover { background: var(--back); }
.console nav a[aria-current] { background: color-mix(in srgb, var(--accent) 12%, var(--card)); color: var(--accent); }
.console main { grid-area: main; padding: 1.25rem; max-width: 80rem; min-width: 0; }
.console main:focus { outline: none; }
.console .panel { background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; padding: 1rem 1.25rem; margin: 0 0 1rem; }
.console .panel h2 { margin: 0 0 0.6rem; padding: 0; border: 0; }
.console .panel h3 { font-size: 1rem; margin: 1.25rem 0 0.4rem; }
.console h1 { overflow-wrap: anywhere; }
.console .above { margin: 0 0 0.4rem; font-size: 0.93rem; color: var(--soft); }
.console .skip { position: absolute; left: -999rem; }
.console .skip:focus { left: 1rem; top: 0.5rem; padding: 0.5rem 1rem; background: var(--card); z-index: 1; }
.console .scroll { position: relative; }
.console .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.console textarea, .console select { width: 100%; font: inherit; padding: 0.55rem 0.7rem; border: 1px solid var(--line); border-radius: 0.4rem;
  background: var(--card); color: var(--text); }
.console textarea { font-family: ui-monospace, monospace; font-size: 0.93rem; }
.console textarea:focus-visible, .console select:focus-visible, .console summary:focus-visible, .console .scroll:focus-visible {
  outline: 3px solid var(--focus); outline-offset: 2px; }
.console .fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0 1.25rem; align-items: start; }
.console .check { display: grid; grid-template-columns: auto 1fr; gap: 0 0.6rem; align-items: baseline; margin: 0.6rem 0; }
.console .check input { width: auto; }
.console .check label { margin: 0; font-weight: 400; }
.console .check .hint { grid-column: 2; }
.console .hint { margin: 0.2rem 0 0; }
.console fieldset { border: 1px solid var(--line); border-radius: 0.4rem; margin: 0.9rem 0; padding: 0.4rem 0.9rem; max-height: 18rem; overflow: auto; }
.console legend { font-weight: 500; padding: 0 0.3rem; }
.console .fields + button.quiet { margin-top: 1rem; }
.console details { margin: 0 0 0.9rem; }
.console .inline { display: flex; flex-wrap: wrap; gap: 0.75rem 1rem; align-items: center; }
.console .inline form { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: end; }
.console .inline button, .console .search button { margin: 0; }
.console .search { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: center; }
.console .search label { margin: 0; }
.console .search input, .console .search select { width: auto; flex: 0 1 14rem; min-width: 8rem; }
.console .tools { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; align-items: center; justify-content: space-between; margin: 0 0 1rem; }
.console a.button { display: inline-block; padding: 0.55rem 1rem; border-radius: 0.4rem; background: var(--accent); color: var(--on-accent);
  font-weight: 600; text-decoration: none; }
.console a.danger { color: var(--danger); }
.console button.danger { background: var(--danger); color: var(--card); }
.console td button { padding: 0.25rem 0.7rem; }
.console tbody tr:last-child td { border-bottom: 0; }
.console td { min-width: 4.5rem; }
.console time, .console td form { white-space: nowrap; }
.console .scroll + form, .console .scroll + .inline { margin-top: 0.9rem; }
.console .scroll + form > button { margin-top: 0; }
.console .pair { display: inline-flex; gap: 0.5rem; align-items: center; }
.console .inline a[aria-current] { font-weight: 600; color: var(--text); text-decoration: none; }
.console th { white-space: nowrap; color: var(--soft); font-weight: 500; }
.console .pager { display: flex; gap: 1.25rem; }
.console .badge { display: inline-block; padding: 0 0.5rem; border: 1px solid currentcolor; border-radius: 1rem; font-size: 0.85rem; white-space: nowrap; }
.console .badge.bad { color: var(--danger); }
.console .badge.good { color: var(--good); }
.console code { overflow-wrap: anywhere; }
.console td code { overflow-wrap: normal; }
@media (max-width: 45rem) {
  .console { display: block; }
  .console nav { border: 0; padding: 0.25rem 0.5rem; border-bottom: 1px solid var(--line); }
  .console nav ul { display: flex; flex-wrap: wrap; }
  .console nav a { padding: 0.4rem 0.6rem; }
  .console main { padding: 1rem 0.75rem; }
  .console .panel { padding: 0.9rem; }
}
`;
