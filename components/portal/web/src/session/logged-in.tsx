import { Text } from "@mantine/core";
import { CircleCheck } from "lucide-react";
import { useEffect } from "react";

import { StandaloneCard } from "./standalone-card.tsx";
import { broadcastToTabs } from "./windows.ts";

/** Where a login ends that another window needed: that one goes on, this one is not needed any more. */
export function Component() {
  useEffect(() => {
    broadcastToTabs("logged-in");
    // Browsers let a page close only some windows; where this one is not, the page says what to do.
    window.close();
  }, []);
  return (
    <StandaloneCard name="Logged in" icon={CircleCheck} colour="var(--swath-good)" title="You are logged in">
      <Text>Close this window and go on where you were: everything there is as you left it.</Text>
    </StandaloneCard>
  );
}
