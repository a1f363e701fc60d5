import { type ChannelWatchOptions, watchChannel } from '../../../../platform/stores/channel-watch.ts'

export interface AccessChangesOptions extends Pick<ChannelWatchOptions, 'pool' | 'log'> {
  readonly onChange: () => void
}

/**
 * Calls `onChange` whenever any process changes what tokens give, and after every time in which a change could
 * have been missed. Keeps one connection of the pool until `close`. Without a connection nothing is wrong: what
 * is remembered is short-lived (`createAccessCache`).
 */
export function watchAccessChanges({ pool, onChange, log }: AccessChangesOptions): {
  close(): Promise<void>
} {
  // Named by the triggers of the migrations.
  return watchChannel({ pool, channel: 'millrace_access_changed', onNotice: onChange, log })
}
