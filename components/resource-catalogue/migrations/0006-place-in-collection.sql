-- The same in half the pages: boxes that are moved by their collection's key, so that one comparison tells place and collection.
-- On a large table the service makes it while it is at work (store/queryable-indexes.ts): a start would wait for minutes.
drop index record_0_scope;
do $$
begin
  if pg_relation_size('record_0') < 250000000 then
    create index record_0_scope on record_0 using gist ((bbox + point(0, 1000.0::float8 * collection)), span);
  end if;
end
$$;
