/** Headers of a page: nothing from elsewhere, no script, no frame around it. */
export const PAGE_SECURITY: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

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
body.reading { display: block; place-items: normal; padding: 0; }
.reading > header { display: flex; flex-wrap: wrap; gap: 0.4rem 1.5rem; align-items: center; padding: 0.7rem max(1.25rem, calc(50vw - 34rem));
  background: var(--card); border-bottom: 1px solid var(--line); }
.reading > header .brand { margin: 0; }
.reading > header ol { list-style: none; display: flex; flex-wrap: wrap; margin: 0; padding: 0; }
.reading > header li + li::before { content: "/"; margin: 0 0.6rem; color: var(--soft); }
.reading > header a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
.reading > main { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1.25rem; overflow-wrap: anywhere; }
.reading > main:focus { outline: none; }
.reading > footer { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem 2rem; color: var(--soft); font-size: 0.9rem; }
.reading .panel { background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; padding: 1rem 1.25rem; margin: 0 0 1rem; }
.reading .panel > h2 { margin: 0 0 0.6rem; padding: 0; border: 0; }
.reading .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 1rem; padding: 0; margin: 0 0 1rem; list-style: none; }
.reading .tiles > li { background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; padding: 1rem 1.25rem; }
.reading .tiles h2 { margin: 0 0 0.25rem; padding: 0; border: 0; }
.reading .tiles p { margin: 0.25rem 0; }
.reading dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.35rem 1.5rem; margin: 0; }
.reading dt { color: var(--soft); } .reading dd { margin: 0; }
.reading tbody tr:last-child td { border-bottom: 0; }
.reading th { white-space: nowrap; color: var(--soft); font-weight: 500; }
.reading time { white-space: nowrap; }
.reading pre { margin: 0; padding: 0.75rem 1rem; background: var(--back); border: 1px solid var(--line); border-radius: 0.4rem; overflow: auto; max-height: 32rem;
  font: 0.85rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.reading code { font-size: 0.92em; } .reading td code { overflow-wrap: normal; white-space: nowrap; }
.reading progress { width: 100%; height: 0.6rem; accent-color: var(--accent); }
.reading .pager { display: flex; gap: 1.25rem; margin: 1rem 0 0; }
.reading .links { margin: 0; padding-left: 1.2rem; }
.badge { display: inline-block; padding: 0 0.55rem; border: 1px solid currentcolor; border-radius: 1rem; font-size: 0.85rem; white-space: nowrap; }
.badge.bad { color: var(--danger); } .badge.good { color: var(--good); } .badge.busy { color: var(--accent); }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 0.5rem; padding: 0.5rem 1rem; background: var(--card); z-index: 1; }
@media (max-width: 40rem) { .reading dl { grid-template-columns: minmax(0, 1fr); gap: 0; } .reading dd { margin: 0 0 0.6rem; } }
`;
