-- Places within one collection: of the many records at a place, only those of the collection are met.
create index record_0_scope on record_0 using gist (int4range(collection, collection, '[]'), bbox, span);
