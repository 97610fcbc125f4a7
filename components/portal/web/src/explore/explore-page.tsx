import { Button } from "@mantine/core";
import { Page } from "@swath/ui";
import { Explore } from "@swath/ui/explore";
import type { Polygon } from "@swath/ui/map";
import { Layers } from "lucide-react";
import { Link, useSearchParams } from "react-router";

import { UseArea } from "./use-area.tsx";
import { serviceUrl } from "../api/services.ts";
import { usePortal } from "../session/portal.ts";

/** Layers on a map, for who is logged in. */
export function Component() {
  const { config } = usePortal();
  const [parameters] = useSearchParams();
  const layer = parameters.get("layer");
  return (
    <Page
      title="Explore"
      actions={
        layer !== null &&
        config.services.includes("resource-catalogue") && (
          <Button
            component={Link}
            to={cataloguePath(layer)}
            variant="default"
            leftSection={<Layers size={16} aria-hidden />}
          >
            In the catalogue
          </Button>
        )
      }
    >
      <Explore
        base={serviceUrl("data-access", "")}
        publicUrl={config.data_access_url ?? window.location.origin}
        {...(config.services.includes("ades") &&
          config.services.includes("resource-catalogue") && {
            areaActions: (shown: string, area: Polygon) => <UseArea layer={shown} area={area} />,
          })}
      />
    </Page>
  );
}

/** The page of a collection, or of the item that the layer is. */
function cataloguePath(layer: string): string {
  const at = layer.indexOf("__");
  return at < 0
    ? `/catalogue/collections/${encodeURIComponent(layer)}`
    : `/catalogue/collections/${encodeURIComponent(layer.slice(0, at))}/items/${encodeURIComponent(layer.slice(at + 2))}`;
}
