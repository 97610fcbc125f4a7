-- The same in half the pages: boxes that are moved by their collection's key, so that one comparison tells place and collection.
drop index record_0_scope;
create index record_0_scope on record_0 using gist ((bbox + point(0, 1000.0::float8 * collection)), span);
