export { Html, html } from "./html.ts";
export { PAGE_ICON, type PageLayout, renderPage } from "./layout.ts";
export { PAGE_SECURITY, STYLE } from "./style.ts";
