import { Box, Paper, Table } from "@mantine/core";
import { type Column, DataTable } from "@swath/ui";

import type { ReactNode } from "react";

import { textOf } from "./text-of.ts";

interface ContentTableProps {
  readonly region: Element;
  /** The page is this list: it scrolls with the window. */
  readonly isList: boolean;
  /** Shows what is in a field. */
  readonly show: (nodes: Iterable<Node>) => ReactNode;
}

interface Row {
  readonly key: string;
  readonly cells: readonly Element[];
}

/** Beyond this a list has to be scrolled sideways. */
const MOST = 7;

/** A table of the page. */
export function ContentTable({ region, isList, show: showNodes }: ContentTableProps) {
  const label = region.getAttribute("aria-label") ?? "Table";
  const headers = [...region.querySelectorAll("thead th")].map((header) => ({
    text: textOf(header),
    isUnseen: header.querySelector(".unseen") !== null,
  }));
  const rows = [...region.querySelectorAll("tbody tr")].map((row, index): Row => ({
    key: String(index),
    cells: [...row.children],
  }));
  const show = (cell: Element | undefined) => cell && showNodes(cell.childNodes);
  const table = (
    <Table.ScrollContainer
      minWidth={Math.min(headers.length * 110, 1600)}
      scrollAreaProps={{ tabIndex: 0, "aria-label": label, role: "region" }}
      type="native"
    >
      <Table aria-label={label} verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            {headers.map(({ text, isUnseen }, index) => (
              <Table.Th key={index} scope="col" aria-label={isUnseen ? text : undefined}>
                {isUnseen ? "" : text}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ key, cells }) => (
            <Table.Tr key={key}>
              {cells.map((cell, index) => (
                <Table.Td key={index}>{show(cell)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
  const isMatrix = region.querySelector("a.open") !== null;
  if (!isList) {
    return table;
  }
  const framed = (
    <Paper withBorder p="xs">
      {table}
    </Paper>
  );
  if (isMatrix || headers.length > MOST) {
    return framed;
  }
  // A page of a longer list is in the order of the whole.
  const isWhole = region.parentElement?.querySelector(".pager") === null;
  const columns = headers.map(({ text, isUnseen }, index): Column<Row> => ({
    key: `${index} ${text}`,
    header: text,
    hideHeader: isUnseen,
    render: ({ cells }) => show(cells[index]),
    ...(isUnseen && { width: "8rem" }),
    ...(isWhole && !isUnseen && { sortBy: ({ cells }: Row) => sortKey(cells[index]) }),
  }));
  return (
    <>
      <Box visibleFrom="sm">
        <DataTable label={label} rows={rows} rowKey={({ key }) => key} columns={columns} />
      </Box>
      {/* A phone has no room for all columns, and none is left out: it scrolls sideways. */}
      <Box hiddenFrom="sm">{framed}</Box>
    </>
  );
}

/** Times by the moment, everything else by its text. */
const sortKey = (cell: Element | undefined): string =>
  cell?.querySelector("time")?.getAttribute("datetime") ?? textOf(cell ?? null).toLowerCase();
