import type { OperatorCommand } from './operator-command.ts'

export const forgetKeysCommand: OperatorCommand = {
  name: 'key forget',
  summary: 'Forgets encryption keys under which nothing is sealed, for when such a key is lost.',
  options: {},
  async run(_values, { keys }) {
    const { forgotten, kept } = await keys.forgetIdle()
    const list = (ids: readonly string[]) => (ids.length === 0 ? 'none' : ids.join(', '))
    return {
      data: { forgotten, kept },
      lines: [
        `Forgotten: ${list(forgotten)}.`,
        `Kept, because secrets are sealed under them: ${list(kept)}.`,
      ],
    }
  },
}
