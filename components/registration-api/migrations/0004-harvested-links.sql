-- Which document of a static catalogue links to which, as a harvester that follows deletions met them last: when a catalogue cannot be read,
-- what is below it stays.
create table harvested_link (
  scope text not null,
  harvester text not null,
  -- Address of a catalogue, page or item, and of the document that links to it.
  document text not null,
  parent text not null,
  -- The task that met it last.
  run bigint not null,
  primary key (scope, harvester, document)
);
create index harvested_link_parent on harvested_link (scope, harvester, parent);
