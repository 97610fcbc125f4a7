-- The last run of each harvester.
create index task_harvest on task (order_key, id desc) where kind = 'harvest';
