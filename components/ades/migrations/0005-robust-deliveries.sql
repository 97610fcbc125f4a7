-- A request that cannot be looked into must not keep its job from changing: the type json takes what its operators then refuse
-- (half characters, "\ud800"). Nobody is told of such a job.
create or replace function queue_deliveries() returns trigger language plpgsql as $$
declare
  subscriber json;
  kind text := case new.status when 'running' then 'in-progress' when 'successful' then 'success' else 'failure' end;
  target text;
  registers boolean;
begin
  begin
    subscriber := coalesce(new.request -> 'subscriber', '{}');
    target := subscriber ->> case new.status
      when 'running' then 'inProgressUri' when 'successful' then 'successUri' else 'failedUri' end;
    registers := new.status = 'successful' and (new.request ->> 'register')::boolean and new.result ->> 'catalogUri' is not null;
  exception when data_exception then
    return null;
  end;
  if target is not null then
    insert into delivery (job, kind, target) values (new.id, kind, target);
  end if;
  if registers then
    insert into delivery (job, kind, target) values (new.id, 'registration', '');
  end if;
  if target is not null or registers then
    perform pg_notify('ades_delivery', new.id::text);
  end if;
  return null;
end $$;
drop trigger job_queues_deliveries on job;
create trigger job_queues_deliveries after update of status on job for each row
  when (old.status is distinct from new.status) execute function queue_deliveries();

-- Results and requests of that kind that are here already: removing and forgetting such jobs looks into them, too.
update job set result = regexp_replace(result::text, '(?<!\\)\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g')::json
where status in ('successful', 'failed', 'dismissed') and result::text ~ '(?<!\\)\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})';
