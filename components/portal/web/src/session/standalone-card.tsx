import { Box, Center, Paper, Stack, Title } from "@mantine/core";
import type { LucideIcon } from "lucide-react";
import { type ReactNode, useEffect } from "react";

interface OutsideCardProps {
  /** Of the browser's window. */
  readonly name: string;
  readonly icon: LucideIcon;
  readonly colour: string;
  readonly title: string;
  readonly children: ReactNode;
}

/** A page by itself, outside of the portal's frame: what came of a login. */
export function StandaloneCard({ name, icon: Icon, colour, title, children }: OutsideCardProps) {
  useEffect(() => {
    document.title = `${name} · Swath`;
  }, [name]);
  return (
    <Center mih="100vh" p="md" component="main">
      <Box w="100%" maw={440}>
        <Paper withBorder p="xl">
          <Stack align="center" ta="center">
            <Icon size={40} strokeWidth={1.3} color={colour} aria-hidden />
            <Title order={1}>{title}</Title>
            {children}
          </Stack>
        </Paper>
      </Box>
    </Center>
  );
}
