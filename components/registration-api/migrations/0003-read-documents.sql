-- Documents of static catalogues as a harvester read them last, so that a source is asked for what changed since (RFC 9110 §13.1).
create table read_document (
  scope text not null,
  harvester text not null,
  -- Where it was asked for, and its address after redirects.
  address text not null,
  document text not null,
  etag text,
  last_modified text,
  -- Of catalogues and collections: their links are followed although they are unchanged.
  content text,
  primary key (scope, harvester, address)
);
