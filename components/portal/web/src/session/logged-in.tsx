import { Text } from "@mantine/core";
import { CircleCheck } from "lucide-react";
import { useEffect } from "react";

import { OutsideCard } from "./outside-card.tsx";
import { tellWindows } from "./windows.ts";

/** Where a login ends that another window needed: that one goes on, this one is not needed any more. */
export function Component() {
  useEffect(() => {
    tellWindows("logged-in");
    // Browsers let a page close only some windows; where this one is not, the page says what to do.
    window.close();
  }, []);
  return (
    <OutsideCard name="Logged in" icon={CircleCheck} colour="var(--swath-good)" title="You are logged in">
      <Text>Close this window and go on where you were: everything there is as you left it.</Text>
    </OutsideCard>
  );
}
