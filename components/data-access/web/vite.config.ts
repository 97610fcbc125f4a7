import { createWebConfig } from "@swath/ui/vite";

/** `npx vite components/data-access/web` shows the viewer with the service of "Run alone" in its README behind it. */
export default createWebConfig({ root: import.meta.dirname, services: { "/collections": "http://127.0.0.1:8090" } });
