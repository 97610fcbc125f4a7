import { createWebConfig } from "@swath/ui/vite";

/** `npx vite components/portal/web` shows the pages with the service of "Run alone" in the README behind them. */
export default createWebConfig({
  root: import.meta.dirname,
  services: {
    "/api": "http://127.0.0.1:8080",
    "/auth": "http://127.0.0.1:8080",
    "/config.json": "http://127.0.0.1:8080",
  },
});
