import { createWebConfig } from "@swath/ui/vite";

/** `npx vite components/registry/web` shows this console with the service of "Run alone" in its README behind it. */
export default createWebConfig({ root: import.meta.dirname, services: { "/api": "http://127.0.0.1:5000" } });
