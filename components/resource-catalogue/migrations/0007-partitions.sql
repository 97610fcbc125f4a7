-- Parts are made, filled and removed by the service (store/partitions). Part 0 takes records of all collections. Any other holds records of
-- one collection with from_at <= at < to_at whose span lies within starts and ends; none of this changes while it exists.
-- Where it is retired, nothing new goes there, and what is there goes elsewhere.
alter table part add column is_retired boolean not null default false;

-- Counts what was done to `part`. A search that leaves parts out says which version it knows.
create table part_version (
  is_single boolean primary key default true check (is_single),
  version bigint not null default 0
);
insert into part_version default values;

-- True, or an error: the parts are others than the caller knows, and what it searches for may be in one that it leaves out.
create function check_part_version(known bigint) returns boolean language plpgsql stable as $$
begin
  if (select version from part_version) <> known then
    raise exception 'the partitions of records have changed' using errcode = 'SW001';
  end if;
  return true;
end $$;
