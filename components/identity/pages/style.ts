/** The one style sheet of all pages. */
export const STYLE = `:root {
  --text: #16202b; --soft: #526173; --line: #ccd5df; --edge: #76869a; --back: #eef2f6; --card: #fff; --accent: #0b6e75; --on-accent: #fff;
  --danger: #b3261e; --danger-back: #fdecea; --good: #1b6e3a; --focus: #0b6e75;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --soft: #9fb0c0; --line: #33414f; --edge: #6b7f93; --back: #0e151c; --card: #17212b; --accent: #4fc3ca; --on-accent: #06262a;
    --danger: #ffb4ab; --danger-back: #3a1714; --good: #7fd99f; --focus: #4fc3ca;
  }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; grid-template-columns: minmax(0, 1fr); place-items: center; padding: 1rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.card { width: 100%; max-width: 25rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.75rem; padding: 2rem; }
.card.wide { max-width: 48rem; align-self: start; }
.brand { display: flex; align-items: center; gap: 0.5rem; margin: 0 0 1.5rem; font-weight: 600; letter-spacing: 0.02em; }
.brand svg { width: 1.75rem; fill: none; stroke: var(--accent); stroke-width: 2.5; stroke-linecap: round; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
label { display: block; font-weight: 500; margin: 0.9rem 0 0.25rem; }
input { width: 100%; font: inherit; padding: 0.55rem 0.7rem; border: 1px solid var(--edge); border-radius: 0.4rem; background: var(--card); color: var(--text); }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
button { font: inherit; font-weight: 600; margin-top: 1.25rem; padding: 0.6rem 1.1rem; border: 1px solid transparent; border-radius: 0.4rem;
  background: var(--accent); color: var(--on-accent); cursor: pointer; }
.card:not(.wide) form > button { width: 100%; }
button.quiet { background: transparent; color: var(--text); border-color: var(--edge); margin-top: 0; }
button + button.quiet, .scroll + form { margin-top: 0.75rem; }
.row { display: flex; gap: 0.75rem; flex-wrap: wrap; align-items: center; justify-content: space-between; }
[role="alert"] { background: var(--danger-back); color: var(--danger); border-radius: 0.4rem; padding: 0.6rem 0.8rem; margin: 0 0 1rem; }
[role="status"] { color: var(--good); font-weight: 500; }
.hint { color: var(--soft); font-size: 0.9rem; }
table { width: 100%; border-collapse: collapse; font-size: 0.93rem; }
th, td { text-align: left; padding: 0.5rem 0.75rem 0.5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td form { display: inline; } td button { margin: 0; }
.scroll { overflow-x: auto; }
a { color: var(--accent); }
ul { padding-left: 1.2rem; }
`;
