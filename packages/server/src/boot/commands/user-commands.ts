import { choosePassword, type OperatorCommand, passwordOptions } from './operator-command.ts'

export const createUserCommand: OperatorCommand = {
  name: 'user create',
  summary: 'Makes an active user who signs in with a password.',
  options: {
    email: { value: 'ADDRESS', required: true, description: 'E-mail address; the user name at sign-in' },
    role: { value: 'NAME', description: 'Role of the company; default viewer' },
    team: {
      value: 'NAME',
      several: true,
      description: "Team of the company; default the company's default team",
    },
    'service-account': {
      description: 'A program: single sign-on does not bind it, and provisioning does not see it',
    },
    company: { value: 'ID', description: 'Needed only where there are several companies' },
    ...passwordOptions,
  },
  async run(values, { accounts }, terminal) {
    const companyId = await accounts.resolveCompany(values.get('company'))
    const { password, isGenerated } = await choosePassword(values, terminal)
    const roleName = values.get('role') ?? 'viewer'
    const user = await accounts.createUser({
      companyId,
      email: values.get('email') ?? '',
      password,
      roleName,
      teamNames: values.all('team'),
      serviceAccount: values.has('service-account'),
    })
    const shown = isGenerated ? { password } : {}
    return {
      data: { id: user.id, email: user.email, companyId, role: roleName, ...shown },
      lines: [
        `Made ${values.has('service-account') ? 'service account' : 'user'} ${user.email} with role ${roleName} (id ${user.id}).`,
        ...(isGenerated ? [`Password, shown only now: ${password}`] : []),
      ],
    }
  },
}

export const userPasswordCommand: OperatorCommand = {
  name: 'user password',
  summary: 'Sets the password of a user and signs the user out everywhere.',
  options: {
    email: { value: 'ADDRESS', required: true, description: 'E-mail address of the user' },
    ...passwordOptions,
  },
  async run(values, { accounts }, terminal) {
    const { password, isGenerated } = await choosePassword(values, terminal)
    const { user, endedSessions } = await accounts.setPassword(values.get('email') ?? '', password)
    const note = user.status === 'disabled' ? ' The user is disabled and still cannot sign in.' : ''
    return {
      data: { id: user.id, email: user.email, endedSessions, ...(isGenerated ? { password } : {}) },
      lines: [
        `Set the password of ${user.email}; sessions ended: ${endedSessions}.${note}`,
        ...(isGenerated ? [`Password, shown only now: ${password}`] : []),
      ],
    }
  },
}
