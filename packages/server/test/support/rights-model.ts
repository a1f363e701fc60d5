/**
 * Who may have what, computed from what was said and by whom: an administrator's own grant, or the identity provider's
 * word under a mapping. It knows nothing of how the service keeps any of it, and is told only what succeeded.
 */

/** What the service has at one moment. */
export interface Snapshot {
  /** All users who are not erased. */
  readonly users: readonly { id: string; email: string; role: string; hasWayIn: boolean }[]
  readonly teams: readonly { id: string; name: string; isDefault: boolean }[]
  readonly members: readonly { teamId: string; userId: string }[]
}

interface Account {
  email: string
  externalId: string | null
  /** The role that an administrator gave, until the account has had another one. */
  grantedRole: string | undefined
  hasWayIn: boolean
  /** Set from the moment on that the identity provider deleted the user until it takes the account up again. */
  former: { readonly externalId: string | null } | undefined
}

interface Team {
  /** As its keeper calls it. */
  name: string
  /** Whether the identity provider keeps it. */
  isKept: boolean
  /** Whom its keeper has put into it. */
  readonly members: Set<string>
}

export interface MembersSaid {
  readonly replace?: boolean
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
}

export interface Mapping {
  readonly group: string
  readonly role: string
}

/** The role of users to whom nothing gives another one. */
export const defaultRole = 'viewer'

export type RightsModel = ReturnType<typeof createRightsModel>

export function createRightsModel() {
  const accounts = new Map<string, Account>()
  const teams = new Map<string, Team>()
  const faults: string[] = []
  let mapping: readonly Mapping[] = []

  function getAccount(id: string): Account {
    const account = accounts.get(id)
    if (!account) throw new Error(`there is no account ${id}`)
    return account
  }

  function change(team: Team, { replace = false, add = [], remove = [] }: MembersSaid): void {
    if (replace) team.members.clear()
    for (const id of add) team.members.add(id)
    for (const id of remove) team.members.delete(id)
  }

  function leaveTeams(id: string): void {
    for (const team of teams.values()) team.members.delete(id)
  }

  function mappedRole(id: string): string | undefined {
    const groups = [...teams.values()].filter(({ isKept, members }) => isKept && members.has(id))
    const names = new Set(groups.map(({ name }) => name.toLowerCase()))
    return mapping.find(({ group }) => names.has(group.toLowerCase()))?.role
  }

  function requireSameUser(id: string, { former }: Account, externalId: string | null): void {
    if (former && former.externalId !== externalId)
      faults.push(`${id} was ${former.externalId}'s account and is ${externalId}'s now`)
  }

  return {
    setMapping(entries: readonly Mapping[]): void {
      mapping = entries
    },

    /** An administrator made the account. */
    made(id: string, email: string, role: string): void {
      const account = { email, externalId: null, grantedRole: role, hasWayIn: true, former: undefined }
      accounts.set(id, account)
    },

    /** The identity provider created a user and was answered with this account. */
    pushed(id: string, email: string, externalId: string | null): void {
      const known = accounts.get(id)
      for (const [other, { email: theirs, former }] of accounts) {
        if (other === id || theirs !== email) continue
        if (former?.externalId === externalId) faults.push(`${email} came back as ${id} and was ${other}`)
        // The address has another holder: nothing leads back to this account.
        accounts.delete(other)
      }
      if (known) requireSameUser(id, known, externalId)
      const kept = known ?? { grantedRole: undefined, hasWayIn: false }
      accounts.set(id, { ...kept, email, externalId, former: undefined })
    },

    /** The identity provider gave an account of its choice an identifier. */
    linked(id: string, externalId: string): void {
      const account = getAccount(id)
      requireSameUser(id, account, externalId)
      accounts.set(id, { ...account, externalId, former: undefined })
    },

    /** The identity provider changed a user of its choice, and did not say under which identifier it knows it. */
    claimed(id: string, email?: string): void {
      const account = getAccount(id)
      accounts.set(id, { ...account, email: email ?? account.email, former: undefined })
    },

    /** The identity provider deleted the user: whatever was given is given no more. */
    deleted(id: string): void {
      const { email, externalId, former } = getAccount(id)
      leaveTeams(id)
      accounts.set(id, {
        ...{ email, externalId: null, grantedRole: undefined, hasWayIn: false },
        former: former ?? { externalId },
      })
    },

    /** An administrator deleted the user. */
    erased(id: string): void {
      leaveTeams(id)
      accounts.delete(id)
    },

    granted(id: string, role: string): void {
      getAccount(id).grantedRole = role
    },

    /** A user who may change teams made one or changed one. */
    teamSaid(id: string, said: MembersSaid & { readonly name?: string }): void {
      const team = teams.get(id) ?? { name: said.name ?? '', isKept: false, members: new Set<string>() }
      teams.set(id, team)
      if (team.isKept) {
        faults.push(`people have changed the group ${team.name}`)
        return
      }
      team.name = said.name ?? team.name
      change(team, said)
    },

    /** The identity provider made a group or changed one; its first word about a team makes it the keeper. */
    groupSaid(id: string, said: MembersSaid & { readonly name?: string }): void {
      const known = teams.get(id)
      const team = known?.isKept
        ? known
        : { name: known?.name ?? '', isKept: true, members: new Set<string>() }
      teams.set(id, team)
      team.name = said.name ?? team.name
      change(team, said)
    },

    /** @param by who deleted it */
    teamGone(id: string, by: 'people' | 'identity-provider'): void {
      const team = teams.get(id)
      if (team?.isKept && by === 'people') faults.push(`people have deleted the group ${team.name}`)
      teams.delete(id)
    },

    fault(text: string): void {
      faults.push(text)
    },

    /** What users have that was never given, or the identity provider has said in vain; and what went wrong before. */
    compare({ users, teams: present, members }: Snapshot): string[] {
      const wrong = [...faults]
      for (const { id, email, role, hasWayIn } of users) {
        const account = accounts.get(id)
        if (!account) {
          wrong.push(`${email} came from nowhere`)
          continue
        }
        const allowed = [defaultRole, account.grantedRole, mappedRole(id)]
        if (!allowed.includes(role)) wrong.push(`${email} has the role ${role}, not one of ${allowed.join()}`)
        if (account.grantedRole !== role) account.grantedRole = undefined
        if (hasWayIn && !account.hasWayIn) wrong.push(`${email} comes in with what a former user had`)
      }
      for (const { id, name, isDefault } of present) {
        const inside = members.filter(({ teamId }) => teamId === id).map(({ userId }) => userId)
        const team = teams.get(id)
        if (isDefault && team?.isKept) wrong.push('the default team has become a group')
        if (isDefault) continue
        const given = team?.members ?? new Set()
        for (const userId of inside) if (!given.has(userId)) wrong.push(`${userId} is in ${name} uninvited`)
        for (const userId of team?.isKept ? given : [])
          if (!inside.includes(String(userId))) wrong.push(`${userId} is missing in ${name}`)
      }
      return wrong
    },
  }
}
