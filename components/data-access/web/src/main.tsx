import { type BaseMapOption, BaseMapsContext, Loading, Page, Shell, requestJson, startApp } from "@swath/ui";
import { BookOpen, Map as MapIcon } from "lucide-react";
import { Suspense, lazy } from "react";

// The map is the largest part: the frame of the page is there before it.
const Explore = lazy(async () => ({ default: (await import("@swath/ui/explore")).Explore }));

const LINKS = [{ to: "/explore", label: "Explore", icon: MapIcon }];

const BASE_MAPS = { list: () => requestJson<readonly BaseMapOption[]>("/explore/base-maps.json") };

startApp({
  routes: [
    {
      path: "*",
      element: (
        <Shell
          title="Data access"
          links={LINKS}
          footer={
            <a href="/docs" style={{ display: "flex", gap: 8, alignItems: "center", padding: 8 }}>
              <BookOpen size={16} aria-hidden /> API docs
            </a>
          }
        >
          <Page title="Explore">
            <Suspense fallback={<Loading />}>
              <BaseMapsContext value={BASE_MAPS}>
                <Explore base="" publicUrl={window.location.origin} />
              </BaseMapsContext>
            </Suspense>
          </Page>
        </Shell>
      ),
    },
  ],
});
