import { startApp } from "@swath/ui";

import { ConsolePage } from "./console-page.tsx";
import { withoutDone } from "./fetch-page.ts";
import { FirstPageContext } from "./first-page.ts";

/** The page that the service sent turns into the app: its content stays, its own styles go. */
const first = {
  address: withoutDone(window.location.pathname + window.location.search),
  html: document.documentElement.outerHTML,
};

async function start(): Promise<void> {
  const own = [...document.querySelectorAll('link[rel="stylesheet"]')];
  await Promise.all(
    [...document.querySelectorAll<HTMLLinkElement>("link[data-app-style]")].map(
      ({ href }) =>
        new Promise((resolve) => {
          const style = document.createElement("link");
          style.addEventListener("load", resolve);
          style.addEventListener("error", resolve);
          style.rel = "stylesheet";
          style.crossOrigin = "anonymous";
          style.href = href;
          document.head.append(style);
        }),
    ),
  );
  own.forEach((style) => style.remove());
  document.querySelector("#root")?.removeAttribute("class");
  startApp({
    routes: [
      {
        path: "*",
        element: (
          <FirstPageContext value={first}>
            <ConsolePage />
          </FirstPageContext>
        ),
      },
    ],
  });
}

void start();
