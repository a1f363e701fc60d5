import type { OperatorCommand } from './operator-command.ts'

const company = {
  value: 'ID',
  required: true,
  description: 'Its identifier, as "company list" shows it',
} as const

export const listCompaniesCommand: OperatorCommand = {
  name: 'company list',
  summary: 'Lists companies, with those that are closed.',
  options: {},
  async run(_values, { accounts }) {
    const companies = await accounts.listCompanies()
    const lines = companies.map(
      ({ id, name, removedAfter }) =>
        `${id}  ${name}${removedAfter ? ` (closed; removed after ${removedAfter})` : ''}`,
    )
    return { data: { companies }, lines }
  },
}

export const closeCompanyCommand: OperatorCommand = {
  name: 'company close',
  summary: 'Closes a company, within a second in every process; 7 days later all that it has is removed.',
  options: {
    company,
    confirm: { value: 'NAME', required: true, description: 'Its name' },
  },
  async run(values, { accounts }) {
    const closed = await accounts.closeCompany(values.get('company') ?? '', values.get('confirm') ?? '')
    return {
      data: { ...closed },
      lines: [`Closed. Until ${closed.removedAfter} "company open" opens it again; then it is removed.`],
    }
  },
}

export const openCompanyCommand: OperatorCommand = {
  name: 'company open',
  summary: 'Opens a company again that was closed less than 7 days ago, as it was.',
  options: { company },
  async run(values, { accounts }) {
    const { id, name } = await accounts.openCompany(values.get('company') ?? '')
    return { data: { id, name }, lines: [`${name} is open again.`] }
  },
}
