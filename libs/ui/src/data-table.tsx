import { Checkbox } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";

import classes from "./data-table.module.css";
import { type Sort, type SortKey, sortRows, toggleSort } from "./sort-rows.ts";

export interface Column<Row> {
  readonly key: string;
  readonly header: string;
  readonly render: (row: Row) => ReactNode;
  /** CSS width; columns without one share what is left. */
  readonly width?: string;
  readonly align?: "start" | "end";
  /** Left out on narrower screens. */
  readonly hideBelow?: "sm" | "md";
  /** Makes the header a button that sorts. */
  readonly sortBy?: (row: Row) => SortKey;
  /** The column has no visible header (buttons). */
  readonly hideHeader?: boolean;
}

interface DataTableProps<Row> {
  /** What the rows are: "Objects in maps/". */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly initialSort?: Sort;
  /** Keys of the chosen rows; with `onSelect` every row gets a box to choose it. */
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (keys: ReadonlySet<string>) => void;
  /** Name of a row for its box: "Choose map.tif". */
  readonly rowLabel?: (row: Row) => string;
  /** Height of every row in pixels. */
  readonly rowHeight?: number;
  /** Shown as a last row: "Loading more". */
  readonly footer?: ReactNode;
}

/** A table of any length: only the rows in sight are in the page, so that ten thousand scroll like ten. */
export function DataTable<Row>({
  label,
  rows,
  rowKey,
  columns,
  initialSort,
  selected,
  onSelect,
  rowLabel = rowKey,
  rowHeight = 44,
  footer,
}: DataTableProps<Row>) {
  const [sort, setSort] = useState(initialSort);
  const sorted = useMemo(() => {
    const by = columns.find(({ key }) => key === sort?.column)?.sortBy;
    return sort === undefined || by === undefined ? rows : sortRows(rows, by, sort.direction);
  }, [rows, columns, sort]);
  const body = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    setOffset((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
  }, [rows.length]);
  const virtual = useWindowVirtualizer({
    count: sorted.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: offset,
  });
  const shown = virtual.getVirtualItems();
  const before = shown.length === 0 ? 0 : (shown[0]?.start ?? offset) - offset;
  const after = shown.length === 0 ? 0 : virtual.getTotalSize() - ((shown.at(-1)?.end ?? offset) - offset);
  const width = columns.length + (onSelect ? 1 : 0);
  const choose = (keys: readonly string[], isChosen: boolean) => {
    const next = new Set(selected);
    for (const key of keys) {
      if (isChosen) {
        next.add(key);
      } else {
        next.delete(key);
      }
    }
    onSelect?.(next);
  };
  return (
    <table className={classes.table} aria-label={label} aria-rowcount={sorted.length + 1}>
      <colgroup>
        {onSelect && <col style={{ width: 44 }} />}
        {columns.map(({ key, width: own, hideBelow }) => (
          <col key={key} style={own === undefined ? undefined : { width: own }} className={hideClass(hideBelow)} />
        ))}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {onSelect && (
            <th>
              <Checkbox
                size="xs"
                aria-label="Select all"
                checked={rows.length > 0 && selected?.size === rows.length}
                indeterminate={selected !== undefined && selected.size > 0 && selected.size < rows.length}
                onChange={(event) => choose(rows.map(rowKey), event.currentTarget.checked)}
              />
            </th>
          )}
          {columns.map((column) => (
            <Header key={column.key} column={column} sort={sort} onSort={() => setSort(toggleSort(sort, column.key))} />
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        <Gap height={before} width={width} />
        {shown.map(({ index }) => {
          const row = sorted[index];
          if (row === undefined) {
            return null;
          }
          const key = rowKey(row);
          const isSelected = selected?.has(key) ?? false;
          return (
            <tr
              key={key}
              aria-rowindex={index + 2}
              data-selected={isSelected || undefined}
              style={{ height: rowHeight }}
            >
              {onSelect && (
                <td>
                  <Checkbox
                    size="xs"
                    aria-label={`Choose ${rowLabel(row)}`}
                    checked={isSelected}
                    onChange={(event) => choose([key], event.currentTarget.checked)}
                  />
                </td>
              )}
              {columns.map(({ key: name, render, align, hideBelow }) => (
                <td key={name} data-align={align} className={hideClass(hideBelow)}>
                  {render(row)}
                </td>
              ))}
            </tr>
          );
        })}
        <Gap height={after} width={width} />
        {footer && (
          <tr>
            <td colSpan={width} className={classes.footer}>
              {footer}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

interface HeaderProps<Row> {
  readonly column: Column<Row>;
  readonly sort: Sort | undefined;
  readonly onSort: () => void;
}

function Header<Row>({
  column: { key, header, sortBy, align, hideBelow, hideHeader },
  sort,
  onSort,
}: HeaderProps<Row>) {
  const direction = sort?.column === key ? sort.direction : undefined;
  const Arrow = direction === "descending" ? ArrowDown : ArrowUp;
  return (
    <th scope="col" aria-sort={direction} data-align={align} className={hideClass(hideBelow)}>
      {sortBy === undefined ? (
        <span className={hideHeader ? classes.unseen : undefined}>{header}</span>
      ) : (
        <button type="button" className={classes.sort} onClick={onSort}>
          {header}
          <Arrow size={14} aria-hidden className={direction === undefined ? classes.idle : undefined} />
        </button>
      )}
    </th>
  );
}

/** Stands for the rows that are not in the page. */
function Gap({ height, width }: { readonly height: number; readonly width: number }) {
  return height > 0 ? (
    <tr aria-hidden className={classes.gap} style={{ height }}>
      <td colSpan={width} />
    </tr>
  ) : null;
}

function hideClass(hideBelow: "sm" | "md" | undefined): string | undefined {
  return hideBelow && classes[`hide-${hideBelow}`];
}
