import { createWebConfig } from "@swath/ui/vite";

/** The STAC browser: a site of the hub that runs in the browser alone (`proxy/sites.ts`). */
export default createWebConfig({ root: import.meta.dirname });
