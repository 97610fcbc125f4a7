-- Logins and changes by administrators go to the audit trail of the deployment in the same transaction, where there is one.
create function audit_row() returns trigger language plpgsql as $$
declare
  entry jsonb;
begin
  if to_regnamespace('audit') is null or not has_schema_privilege('audit', 'usage') then
    return null;
  end if;
  if tg_table_name = 'event' then
    -- Codes and tokens that are exchanged by programs all the time say nothing that the login before them does not.
    if new.type in ('CODE_TO_TOKEN', 'CLIENT_LOGIN', 'PERMISSION_TOKEN') then
      return null;
    end if;
    entry := jsonb_build_object(
      'action', new.type, 'actor', coalesce(new.user_id, 'anonymous'), 'actorName', new.details ->> 'username',
      'target', new.client_id, 'ip', new.ip, 'details', new.details || jsonb_build_object('error', new.error));
  else
    entry := jsonb_build_object(
      'action', new.operation || ' ' || new.resource_type, 'actor', coalesce(new.actor_id, 'anonymous'),
      'actorName', new.actor_name, 'target', new.resource_path, 'ip', new.ip,
      'details', jsonb_build_object('administrator', true, 'client', new.actor_client));
  end if;
  perform audit.note(jsonb_strip_nulls(entry));
  return null;
end $$;

create trigger audit after insert on event for each row execute function audit_row();
create trigger audit after insert on admin_event for each row execute function audit_row();
