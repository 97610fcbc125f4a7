import { createHash } from "node:crypto";

import type { Plugin } from "vite";

const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#16888f" stroke-width="2.5" stroke-linecap="round"><circle cx="16" cy="16" r="13"/><path d="M6 24 20 3.8M12 28.4 26 8"/></svg>`;

/** The choice of light or dark is applied before anything is drawn. The key is that of `src/color-scheme.ts`. */
const SCRIPT = `try{var s=localStorage.getItem("swath-color-scheme")}catch(e){}
if(s!=="light"&&s!=="dark")s=matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light";
document.documentElement.setAttribute("data-mantine-color-scheme",s);`;

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
