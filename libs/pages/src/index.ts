export { Html, html } from "./html.ts";
export { type PageLayout, renderPage } from "./layout.ts";
export { PAGE_SECURITY, STYLE } from "./style.ts";
