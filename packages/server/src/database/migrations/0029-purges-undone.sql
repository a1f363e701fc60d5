-- Events of a deleted datasource are hidden at once, and stay on disk for some days, in which the deletion can be undone.
alter table event_purges
  -- From when on they are removed, and no further ones are stored.
  add column purge_after timestamptz not null default now(),
  -- Of a datasource that took no events when it was deleted.
  add column was_paused boolean not null default false,
  -- Since when orders are computed without them.
  add column uncounted_since timestamptz,
  -- Of a deletion that is undone: they count again, and are hidden until all orders say so.
  add column restored_at timestamptz;
