import { createHash } from "node:crypto";

import type { Plugin } from "vite";

const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#16888f" stroke-width="2.5" stroke-linecap="round"><circle cx="16" cy="16" r="13"/><path d="M6 24 20 3.8M12 28.4 26 8"/></svg>`;

/** The choice of light or dark is applied before anything is drawn. The key is that of `src/color-scheme.ts`. */
const SCRIPT = `try{var s=localStorage.getItem("swath-color-scheme")}catch(e){}
if(s!=="light"&&s!=="dark")s=matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light";
document.documentElement.setAttribute("data-mantine-color-scheme",s);`;

/** What is shown until the app is there: on a slow network that takes long, and a white page says nothing. */
const SPLASH_STYLE = `.splash{min-height:100vh;display:grid;place-content:center;justify-items:center;gap:12px;font:16px system-ui,sans-serif;color:#16202b;background:#eef2f6;margin:-8px}
.splash svg{width:56px;height:56px}.splash p{margin:0}.splash .late{visibility:hidden;animation:late 0s 8s forwards}
@keyframes late{to{visibility:visible}}
[data-mantine-color-scheme=dark] .splash{color:#e6edf3;background:#0e151c}`;

/** Replaces the empty root of every app until the app draws itself. */
export function splash(): Plugin {
  return {
    name: "splash",
    transformIndexHtml: (html) =>
      html.replace(
        '<div id="root"></div>',
        `<div id="root"><div class="splash" role="status">${MARK}<p>Loading</p><p class="late">The network is slow; this page is still being loaded.</p></div></div>`,
      ),
  };
}

/** What the head of every app says, and the mark of the product. */
export function houseHead(): Plugin {
  return {
    name: "house-head",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: toFileName("mark", "svg", MARK), source: MARK });
    },
    transformIndexHtml: () => [
      { tag: "meta", attrs: { name: "viewport", content: "width=device-width, initial-scale=1" } },
      { tag: "meta", attrs: { name: "color-scheme", content: "light dark" } },
      { tag: "link", attrs: { rel: "icon", type: "image/svg+xml", href: `/${toFileName("mark", "svg", MARK)}` } },
      { tag: "style", attrs: { nonce: "CSP_NONCE" }, children: SPLASH_STYLE },
    ],
  };
}

/** A small script of its own, because the policy allows none inside the page. */
export function colorSchemeFirst(): Plugin {
  return {
    name: "color-scheme-first",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: toFileName("color-scheme", "js", SCRIPT), source: SCRIPT });
    },
    transformIndexHtml: {
      order: "post",
      handler: () => [
        { tag: "script", attrs: { src: `/${toFileName("color-scheme", "js", SCRIPT)}` }, injectTo: "head-prepend" },
      ],
    },
  };
}

function toFileName(name: string, extension: string, content: string): string {
  return `assets/${name}-${createHash("sha256").update(content).digest("base64url").slice(0, 8)}.${extension}`;
}
