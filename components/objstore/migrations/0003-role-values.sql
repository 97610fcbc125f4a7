-- A role fits tokens whose claim has one of several values, a JSON list.
alter table roles add column claim_values text;
update roles set claim_values = json_array(claim_value) where claim is not null;
alter table roles drop column claim_value;

-- Temporary keys end with what they were made from: the key that signed in, or the roles of the identity token (JSON list).
alter table access_keys add column parent text;
alter table access_keys add column roles text;
create index access_keys_parent on access_keys (parent) where parent is not null;
