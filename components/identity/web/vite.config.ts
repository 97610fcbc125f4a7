import { createWebConfig } from "@swath/ui/vite";

/** What the console's pages, which the service makes, turn into where there is script. */
export default createWebConfig({ root: import.meta.dirname, services: { "/console": "http://127.0.0.1:8080" } });
